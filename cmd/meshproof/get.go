package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meshproof/meshproof/internal/cluster"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/policy"
)

func newGet() *cobra.Command {
	var filter lab.Choice
	var wanted cluster.Filter
	var output outputFormat
	var strict bool
	kinds := strings.Join(cluster.Names(), ", ")
	cmd := &cobra.Command{
		Use:   "get KIND PATH…",
		Short: "Print policies as an API server would",
		Long: `Get prints the policies of one kind in case files and policy files. PATH is a file or a folder. The kinds are
` + kinds + `.
The plural or the short name of a kind will do. Kinds of several dialects have one name: all are printed, and
with an API group behind the name, as in authorizationpolicies.security.istio.io, those of the group alone.

An AuthorizationPolicy in a case file has the status that a controller would publish, because the workloads
are known there. A MeshTrafficPermission has its mesh, role and target, and the name that Envoy reports.

A policy that is not valid is printed too, as it was written, with the reason Invalid. Then the exit status
is 2, and standard error says what is wrong. An AuthorizationPolicy that selects no pod has the reason
TargetNotFound. That is no error, because its pods may come later. A case that expects its policies to be
refused is left out.`,
		Example: `  meshproof get authorizationpolicy cases/gateway/gateway-selection.yaml -o json
  meshproof get meshtrafficpermissions policies/ --mesh default
  meshproof get authorizationpolicy policies.yaml --namespace shop -o yaml`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 || !cluster.IsNoun(args[0]) {
				return fmt.Errorf("KIND is missing or unknown: write %s KIND PATH, where KIND is %s", cmd.CommandPath(), kinds)
			}
			wanted.Noun = args[0]
			return needPath(cmd, args[1:])
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			files, err := lab.Read(filter, args[1:]...)
			if err != nil {
				return err
			}
			objects, err := cluster.ObjectsOf(files, wanted)
			if err == nil {
				err = lab.LeaveOut(cmd.ErrOrStderr(), strict, files)
			}
			if err != nil {
				return err
			}
			if others := cluster.Homonyms(files, wanted); len(others) > 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "meshproof: note: %s: left out, as of another API group: %s\n", files.Name, others)
			}
			if len(objects) == 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "meshproof: note: %s: there is no %s that was asked for\n", files.Name, args[0])
			}
			switch {
			case output == outputYAML:
				err = objects.WriteYAML(cmd.OutOrStdout())
			default:
				err = printResult(cmd.OutOrStdout(), output, objects)
			}
			return cmp.Or(err, objects.Err())
		},
		ValidArgsFunction: completeFiles,
	}
	flags := cmd.Flags()
	flags.StringVarP(&wanted.Namespace, "namespace", "n", "", "only the policies of this namespace; all of them where it is empty")
	flags.StringVar(&wanted.Mesh, "mesh", "", "only the policies of this mesh; all of them where it is empty")
	addStrictFiles(cmd, &strict)
	addOutput(cmd, &output, outputYAML)
	addCaseFilter(cmd, &filter)
	return cmd
}

func newDescribe() *cobra.Command {
	var filter lab.Choice
	var pod policy.Workload
	var strict bool
	cmd := &cobra.Command{
		Use:   "describe pod NAME PATH…",
		Short: "Print the AuthorizationPolicies of Gateway API that a pod is subject to",
		Long: `Describe prints the AuthorizationPolicies of Gateway API that select a pod, and by which target. It counts the
policies of other dialects: meshproof inspect inbound says which of those apply. PATH is a file or a folder with
cases, whose workloads are the pods, or with policies. The flags describe the pod that policies are asked about.`,
		Example: `  meshproof describe pod backend cases/gateway/gateway-rules.yaml
  meshproof describe pod backend policies.yaml --namespace shop --label app=backend`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 0 || !slices.Contains([]string{"pod", "pods"}, strings.ToLower(args[0])):
				return fmt.Errorf("only a pod can be described: write %s pod NAME PATH", cmd.CommandPath())
			case len(args) == 1:
				return fmt.Errorf("no pod was named: see %s --help", cmd.CommandPath())
			}
			return needPath(cmd, args[2:])
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			files, err := lab.Read(filter, args[2:]...)
			if err != nil {
				return err
			}
			if err := lab.LeaveOut(cmd.ErrOrStderr(), strict, files); err != nil {
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
	addStrictFiles(cmd, &strict)
	flags := newFlags()
	flags.StringVarP(&pod.Namespace, "namespace", "n", "default", "namespace of the pod")
	addLabels(flags, &pod.Labels, "pod")
	addGroup(cmd, policyFiles, flags)
	addCaseFilter(cmd, &filter)
	return cmd
}
