package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meshproof/meshproof/internal/terminal"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
)

func newDescribe() *cobra.Command {
	var filter caseFilter
	var pod policy.Workload
	cmd := &cobra.Command{
		Use:   "describe pod NAME PATH…",
		Short: "Print the AuthorizationPolicies that a pod is subject to",
		Long: `Describe prints the AuthorizationPolicies that select a pod, and by which target. PATH is a case
file, whose workloads are the pods, or a file with policies; then the flags say what pod it is.`,
		Example: `  meshproof describe pod backend cases/gateway/gateway-rules.yaml
  meshproof describe pod backend policies.yaml --namespace shop --label app=backend`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 0 || !slices.Contains([]string{"pod", "pods"}, strings.ToLower(args[0])):
				return fmt.Errorf("nothing that can be described: write %s pod NAME PATH", cmd.CommandPath())
			case len(args) == 1:
				return fmt.Errorf("no pod was named: see %s --help", cmd.CommandPath())
			}
			return needPath(cmd, args[2:])
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			estates, err := readEstates(args[2:], filter)
			if err != nil {
				return err
			}
			pod.Name = args[1]
			return describe(cmd.OutOrStdout(), estates, pod)
		},
		ValidArgsFunction: completeFiles,
	}
	flags := cmd.Flags()
	flags.StringVarP(&pod.Namespace, "namespace", "n", "default", "policy files: namespace of the pod")
	flags.StringToStringVar(&pod.Labels, "label", nil, "policy files: label of the pod, as key=value; repeatable")
	flags.Var(&filter, "case", "case files: only the cases whose name or story matches this regular expression")
	return cmd
}

// describe prints the pod of that name of each estate; where an estate has no
// pods, the one that is given.
func describe(w io.Writer, estates []estate, given policy.Workload) error {
	found := 0
	for _, e := range estates {
		pods := e.pods
		if pods == nil {
			pods = []policy.Workload{given}
		}
		for _, pod := range pods {
			inherited, err := lister().Inherited(e.docs, pod)
			switch {
			case err != nil:
				return err
			case pod.Name != given.Name:
				continue
			}
			if found++; found > 1 {
				fmt.Fprintln(w)
			}
			describePod(w, pod, inherited)
		}
	}
	if found == 0 {
		return fmt.Errorf("there is no pod %q: a pod is a workload that has inbounds", given.Name)
	}
	return nil
}

func describePod(w io.Writer, pod policy.Workload, inherited []language.Inherited) {
	var labels []string
	for _, key := range slices.Sorted(maps.Keys(pod.Labels)) {
		labels = append(labels, terminal.Printable(key+"="+pod.Labels[key]))
	}
	const none = "<none>"
	if labels == nil {
		labels = []string{none}
	}
	for _, line := range (terminal.Table{{"Name:", terminal.Printable(pod.Name)}, {"Namespace:", terminal.Printable(pod.Namespace)}, {"Labels:", strings.Join(labels, ",")}}).Lines() {
		fmt.Fprintln(w, line)
	}
	if inherited == nil {
		fmt.Fprintf(w, "InheritedPolicies:  %s\n", none)
		return
	}
	fmt.Fprintln(w, "InheritedPolicies:")
	table := terminal.Table{{"Type", "Name", "Target Kind", "Target Name/Expression"}, {"----", "----", "-----------", "----------------------"}}
	for _, p := range inherited {
		table = append(table, []string{p.Type, p.Name, p.TargetKind, p.Target})
	}
	for _, line := range table.Lines() {
		fmt.Fprintf(w, "  %s\n", line)
	}
}
