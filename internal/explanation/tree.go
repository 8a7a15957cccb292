package explanation

import (
	"errors"
	"fmt"
	"io"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/terminal"
)

// Tree is the decision tree of one inbound.
type Tree struct {
	Title string
	// Tree is nil where the policies have none; Err says why.
	Tree capability.Tree
	Err  error
}

// Trees are the decision trees of several inbounds.
type Trees []Tree

// TreesOf returns the decision tree of each subject, the full one or the pruned one.
func TreesOf(subjects []lab.Subject, full bool) Trees {
	out := make(Trees, len(subjects))
	for i, s := range subjects {
		tree, err := treeOf(s)
		if err == nil && !full {
			tree = tree.Prune()
		}
		out[i] = Tree{s.Title(), tree, err}
	}
	return out
}

func treeOf(s lab.Subject) (capability.Tree, error) {
	grower, ok := s.Set.(capability.Grower)
	if !ok {
		return nil, errors.New("policies of this dialect have no decision tree")
	}
	return grower.Tree(s.Inbound.Inbound)
}

// Err returns nil where some inbound has a tree, and why there is none otherwise.
func (all Trees) Err() error {
	var errs []error
	for _, t := range all {
		if t.Err == nil {
			return nil
		}
		errs = append(errs, fmt.Errorf("%s: %w", t.Title, t.Err))
	}
	return errors.Join(errs...)
}

// WriteText prints each tree. Of several inbounds it names the inbounds that have no tree.
func (all Trees) WriteText(w io.Writer, _ terminal.Paint) {
	for _, t := range all {
		switch {
		case t.Err == nil:
			fmt.Fprintf(w, "# %s\n%s\n", t.Title, t.Tree)
		case len(all) > 1:
			fmt.Fprintf(w, "# %s\nno tree: %v\n\n", t.Title, t.Err)
		}
	}
}

// SVG draws the tree. There must be one.
func (t Tree) SVG() string { return t.Tree.SVG(t.Title) }
