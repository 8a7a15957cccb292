package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meshproof/meshproof/internal/cluster"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/policy"
)

func newDescribe() *cobra.Command {
	var filter caseFilter
	var pod policy.Workload
	cmd := &cobra.Command{
		Use:   "describe pod NAME PATH…",
		Short: "Print the AuthorizationPolicies that a pod is subject to",
		Long: `Describe prints the AuthorizationPolicies that select a pod, and by which target. PATH is a case
file, whose workloads are the pods, or a file with policies. Then the flags describe the pod.`,
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
			files, err := lab.Read(lab.Choice{Pattern: filter.pattern}, args[2:]...)
			if err != nil {
				return err
			}
			pod.Name = args[1]
			pods, err := cluster.PodsOf(files, pod)
			if err != nil {
				return err
			}
			return printResult(cmd.OutOrStdout(), outputText, pods)
		},
		ValidArgsFunction: completeFiles,
	}
	flags := cmd.Flags()
	flags.StringVarP(&pod.Namespace, "namespace", "n", "default", "policy files: namespace of the pod")
	flags.StringToStringVar(&pod.Labels, "label", nil, "policy files: label of the pod, as key=value; repeatable")
	flags.Var(&filter, "case", "case files: only the cases whose name or story matches this regular expression")
	return cmd
}
