package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/meshproof/meshproof/internal/explanation"
	"github.com/meshproof/meshproof/internal/flagvalue"
)

// explainOptions are the flags of explain.
type explainOptions struct {
	source   sourceOptions
	output   outputFormat
	tree     treeShape
	question explanation.Question
}

func newExplain() *cobra.Command {
	var o explainOptions
	cmd := &cobra.Command{
		Use:   "explain PATH…",
		Short: "Tell which rule decides one request",
		Long: `Explain judges one request without Envoy and shows the way to the decision: every rule in order,
which of them match, and which one decides. PATH and flags are those of compile; --case without a PATH
is about the built-in cases. With --to MeshService/backend:80 it follows a request of the workload --from
through its sidecar instead: which route takes it, what bounds its time and which field says so, and what
the inbounds behind each backend decide. Where the case gives the caller a name, use the name. The other commands
print the command that explains a request which failed.

With --tree it prints the decision tree of each inbound instead: the matchers of all its policies,
grouped by their effect, and the decision at the end of each path.`,
		Example: `  meshproof explain policies.yaml --from spiffe://trust-domain.mesh/ns/observability/sa/prometheus --path /metrics
  meshproof explain cases/kuma/credentials.yaml --case 'cannot prove' --from expired
  meshproof explain cases/kuma/design-example.yaml --to backend/http-port --from spiffe://trust-domain.mesh/ns/legacy/sa/app
  meshproof explain examples/routes --from web --to MeshService/backend:80 --path /slow-endpoint
  meshproof explain cases/kuma/option-3.yaml --case 'of the example' --to backend/http-port --tree --output svg`,
		Args: func(cmd *cobra.Command, paths []string) error {
			if len(paths) == 0 && cmd.Flags().Changed("case") {
				return nil
			}
			return needPath(cmd, paths)
		},
		RunE: func(cmd *cobra.Command, paths []string) error {
			if err := o.checkOutput(); err != nil {
				return err
			}
			if o.tree != noTree {
				if name := o.question.Changed(); name != "" {
					return fmt.Errorf("--%s is about one request: leave it out with --tree", name)
				}
				return o.printTrees(paths, cmd.OutOrStdout())
			}
			return o.run(paths, cmd.OutOrStdout())
		},
	}
	o.source.routing = true
	o.source.add(cmd)
	cmd.Flags().StringVar(&o.source.policies, "policies", "", "explain by the policies of this file or folder, instead of those that the cases state")
	flags := cmd.Flags()
	addOutput(cmd, &o.output, outputSVG)
	flags.Var(flagvalue.OneOf(&o.tree, prunedTree, fullTree), "tree", "print the decision tree; --tree=full prints it before pruning")
	flags.Lookup("tree").NoOptDefVal = string(prunedTree)
	completeValues(cmd, "tree")
	flags = newFlags()
	o.question.Add(flags)
	addGroup(cmd, oneRequest, flags)
	return cmd
}

func (o *explainOptions) run(paths []string, stdout io.Writer) error {
	from, request, err := o.question.Read()
	if err != nil {
		return err
	}
	files, s, err := o.source.open(paths)
	if err != nil {
		return err
	}
	routed, err := explanation.ExplainRouted(files, s, from, o.source.only, request)
	switch {
	case err != nil:
		return err
	case routed != nil:
		return cmp.Or(printResult(stdout, o.output, routed), exitFor(false, o.source.strict && routed.Warns()))
	}
	subjects, err := o.source.subjectsOf(files, s)
	if err != nil {
		return err
	}
	explained, err := explanation.Explain(subjects, from, request)
	if err != nil {
		return fmt.Errorf("--from: %w", err)
	}
	return cmp.Or(printResult(stdout, o.output, explained), o.source.judge(subjects))
}

// treeShape is the value of explain --tree.
type treeShape string

const (
	noTree     treeShape = ""
	prunedTree treeShape = "pruned"
	fullTree   treeShape = "full"
)

// checkOutput refuses a format that a tree, or an explanation, does not have.
func (o *explainOptions) checkOutput() error {
	switch {
	case o.tree == noTree && o.output == outputSVG:
		return errors.New("--output svg: only a decision tree is drawn: add --tree")
	case o.tree != noTree && o.output == outputJSON:
		return errors.New("--output json: a decision tree is printed as text or svg")
	default:
		return nil
	}
}

// printTrees prints or draws the decision tree of each inbound. A drawing is one
// document, and so of one inbound.
func (o *explainOptions) printTrees(paths []string, stdout io.Writer) error {
	subjects, err := o.source.subjects(paths)
	if err != nil {
		return err
	}
	if o.output == outputSVG && len(subjects) > 1 {
		return fmt.Errorf("--output svg: a drawing is of one inbound, not of %d: choose one with --to and --case", len(subjects))
	}
	trees := explanation.TreesOf(subjects, o.tree == fullTree)
	switch {
	case o.output != outputSVG:
		trees.WriteText(stdout, false)
	case trees.Err() == nil:
		_, err = io.WriteString(stdout, trees[0].SVG())
	}
	return cmp.Or(trees.Err(), err)
}
