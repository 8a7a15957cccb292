package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/meshproof/meshproof/internal/explanation"
)

// treeShape is the value of explain --tree.
type treeShape string

const (
	noTree     treeShape = ""
	prunedTree treeShape = "pruned"
	fullTree   treeShape = "full"
)

// Set implements pflag.Value.
func (t *treeShape) Set(s string) error {
	switch shape := treeShape(s); shape {
	case prunedTree, fullTree:
		*t = shape
		return nil
	default:
		return fmt.Errorf("%q is unknown: use pruned or full", s)
	}
}

// String implements pflag.Value.
func (t *treeShape) String() string { return string(*t) }

// Type implements pflag.Value.
func (*treeShape) Type() string { return "pruned|full" }

// explainFormat is the value of explain --output: a tree is printed or drawn, the
// way of a request printed or encoded.
type explainFormat outputFormat

const outputSVG explainFormat = "svg"

// Set implements pflag.Value.
func (f *explainFormat) Set(s string) error {
	switch format := explainFormat(s); format {
	case explainFormat(outputText), explainFormat(outputJSON), outputSVG:
		*f = format
		return nil
	default:
		return fmt.Errorf("%q is unknown: use text, json or svg", s)
	}
}

// String implements pflag.Value.
func (f *explainFormat) String() string { return string(*f) }

// Type implements pflag.Value.
func (*explainFormat) Type() string { return "text|json|svg" }

// check refuses a format that what is printed does not have.
func (f explainFormat) check(tree treeShape) error {
	switch {
	case tree == noTree && f == outputSVG:
		return errors.New("--output svg: only a decision tree is drawn: add --tree")
	case tree != noTree && f == explainFormat(outputJSON):
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
