package main

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/internal/dialects"
	"github.com/meshproof/meshproof/internal/flagvalue"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/optionflag"
	"github.com/meshproof/meshproof/internal/rendering"
	"github.com/meshproof/meshproof/internal/terminal"
	"github.com/meshproof/meshproof/policy/manifest"
)

func newConvert() *cobra.Command {
	to := optionflag.New(dialects.Designs())
	var mesh spiffeid.TrustDomain
	cmd := &cobra.Command{
		Use:   "convert --to OPTION PATH…",
		Short: "Rewrite MeshTrafficPermissions for another design or for Istio, or Istio's policies for Kuma",
		Long: `Convert rewrites the policies of files and folders for one of the three designs of MeshTrafficPermission and
prints them: option1 has rules with lists, option2 a single item with lists, option3 rules with
conditions and an action. Names, labels and targetRefs are kept, comments are not. With istio it
prints AuthorizationPolicies of Istio, and with kuma it reads these and prints MeshTrafficPermissions.
What they cannot say is an error. The trust domain of Istio's mesh stands in no policy: where they
name it cluster.local, --trust-domain says which it is.

A rewritten policy lets the same requests in, where the mesh has all of its fields. The designs differ in
the policy that Envoy names and in what the shadow says of a plain allow. Notes on standard error say so,
and name the fields that no release of Kuma has. A policy that a tool may not apply, or may change before that, has
a warning: no annotation and no comment is kept.`,
		Example: `  meshproof convert --to option3 policies.yaml
  meshproof convert --to istio operators.yaml owners.yaml
  meshproof convert --to kuma --trust-domain my.mesh istio.yaml`,
		Args: needPath,
		RunE: func(cmd *cobra.Command, paths []string) error {
			if !cmd.Flags().Changed("to") {
				return errors.New("--to is missing: use option1, option2, option3, istio or kuma")
			}
			policies, err := lab.Documents(paths...)
			if err != nil {
				return err
			}
			converted, err := dialects.ConverterTo(to.String()).Convert(policies, to.String(), mesh)
			if err != nil {
				return err
			}
			made, err := manifest.Parse("(converted)", converted.YAML)
			if err != nil {
				return err
			}
			// What a tool does by an annotation or a comment is lost.
			for _, w := range slices.Concat(rendering.Idle(policies), rendering.Unrendered(policies)) {
				fmt.Fprintf(cmd.ErrOrStderr(), "meshproof: warning: %s\n", terminal.Printable(w.String()))
			}
			printNotes(cmd.ErrOrStderr(), converted.Notes)
			printNotes(cmd.ErrOrStderr(), dialects.Drafts(made))
			_, err = cmd.OutOrStdout().Write(converted.YAML)
			return err
		},
		ValidArgsFunction: completeFiles,
	}
	cmd.Flags().Var(to, to.Name, to.Usage)
	cmd.Flags().Var(flagvalue.Text(&mesh, "name"), "trust-domain", "trust domain of Istio's mesh, which cluster.local in its policies stands for")
	// The flag is required: its zero value is no default.
	cmd.Flags().Lookup("to").DefValue = ""
	completeValues(cmd, "to")
	return cmd
}

// printNotes prints what a reader of the result may not expect, one line each.
func printNotes(w io.Writer, notes []string) {
	for _, note := range notes {
		fmt.Fprintf(w, "meshproof: note: %s\n", terminal.Printable(note))
	}
}

// shortened returns the first of the notes, which says how many more lint has. The gravest is the first.
func shortened(notes []string) []string {
	if more := len(notes) - 1; more > 0 {
		return []string{fmt.Sprintf("%s; and %s of that kind: see meshproof lint", notes[0], terminal.Count(more, "more note"))}
	}
	return notes
}
