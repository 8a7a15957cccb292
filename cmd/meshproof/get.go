package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/terminal"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
)

// getFormat is the value of --output of get.
type getFormat string

const (
	getTable getFormat = "text"
	getJSON  getFormat = "json"
	getYAML  getFormat = "yaml"
)

// Set implements pflag.Value.
func (f *getFormat) Set(s string) error {
	if format := getFormat(s); slices.Contains([]getFormat{getTable, getJSON, getYAML}, format) {
		*f = format
		return nil
	}
	return fmt.Errorf("%q is unknown: use text, json or yaml", s)
}

// String implements pflag.Value.
func (f *getFormat) String() string { return string(*f) }

// Type implements pflag.Value.
func (*getFormat) Type() string { return "text|json|yaml" }

func newGet() *cobra.Command {
	var filter caseFilter
	var namespace string
	output := getTable
	cmd := &cobra.Command{
		Use:   "get authorizationpolicy PATH…",
		Short: "Print AuthorizationPolicies as an API server would",
		Long: `Get prints the AuthorizationPolicies of case files and policy files. In a case file the workloads
are known, and with them the status that a controller would publish.

A policy that is not valid is printed too, as it was written, with the status False and reason Invalid;
then the exit status is 2, and standard error says where it is wrong. A policy that selects no pod has
the reason TargetNotFound, which is no error: its pods may be still to come. A case that expects its
policies to be refused is left out.`,
		Example: `  meshproof get authorizationpolicy cases/gateway/gateway-selection.yaml -o json
  meshproof get authorizationpolicy policies.yaml --namespace shop -o yaml`,
		Args: func(cmd *cobra.Command, args []string) error {
			kinds := []string{"authorizationpolicy", "authorizationpolicies", "xauthorizationpolicy", "xauthorizationpolicies"}
			if len(args) == 0 || !slices.Contains(kinds, strings.ToLower(args[0])) {
				return fmt.Errorf("nothing that can be got: write %s authorizationpolicy PATH", cmd.CommandPath())
			}
			return needPath(cmd, args[1:])
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			objects, err := readObjects(args[1:], filter)
			if err != nil {
				return err
			}
			objects = slices.DeleteFunc(objects, func(o language.Object) bool { return namespace != "" && o.Namespace != namespace })
			if err := printObjects(cmd.OutOrStdout(), objects, output); err != nil {
				return err
			}
			return invalid(objects)
		},
		ValidArgsFunction: completeFiles,
	}
	flags := cmd.Flags()
	flags.StringVarP(&namespace, "namespace", "n", "", "only the policies of this namespace; all of them where it is empty")
	flags.Var(&filter, "case", "case files: only the cases whose name or story matches this regular expression")
	flags.VarP(&output, "output", "o", "how to print the result")
	completeValues(cmd, "output")
	return cmd
}

// readObjects reads case files, of which each case has pods of its own, and policy
// files, which have none and are one set together.
func readObjects(paths []string, filter caseFilter) ([]language.Object, error) {
	files, err := lab.Read(lab.Choice{Pattern: filter.pattern}, paths...)
	if err != nil {
		return nil, err
	}
	var out []language.Object
	for _, c := range files.Cases {
		objects, err := lister().Objects(c.Policies, podsOf(c))
		if err != nil {
			return nil, err
		}
		out = append(out, objects...)
	}
	objects, err := lister().Objects(files.Policies, nil)
	return append(out, objects...), err
}

// invalid joins the errors of the objects that are not valid, for the exit status
// and for the places of what is wrong.
func invalid(objects []language.Object) error {
	var errs []error
	for _, o := range objects {
		errs = append(errs, o.Invalid)
	}
	return errors.Join(errs...)
}

func printObjects(w io.Writer, objects []language.Object, output getFormat) error {
	if output == getTable {
		printTable(w, objects)
		return nil
	}
	items := make([]json.RawMessage, len(objects))
	for i, o := range objects {
		items[i] = o.JSON
	}
	text, err := json.MarshalIndent(struct {
		APIVersion string            `json:"apiVersion"`
		Kind       string            `json:"kind"`
		Items      []json.RawMessage `json:"items"`
	}{"v1", "List", items}, "", "  ")
	if err != nil {
		return err
	}
	if output == getJSON {
		_, err = fmt.Fprintf(w, "%s\n", text)
		return err
	}
	// What is not valid may hold any text, which this printer quotes as it must.
	docs, err := manifest.Parse("the result", text)
	if err != nil {
		return err
	}
	for _, doc := range docs {
		if _, err := w.Write(doc.YAML()); err != nil {
			return err
		}
	}
	return nil
}

func printTable(w io.Writer, objects []language.Object) {
	table := terminal.Table{{"NAMESPACE", "NAME", "KIND", "RULES", "ACCEPTED", "REASON"}}
	for _, o := range objects {
		table = append(table, []string{o.Namespace, o.Name, o.Kind, fmt.Sprint(o.Rules), terminal.Printable(o.Accepted), terminal.Printable(o.Reason)})
	}
	for _, line := range table.Lines() {
		fmt.Fprintln(w, line)
	}
}
