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

// checkOutput refuses a format that trees, or explanations, do not have.
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
