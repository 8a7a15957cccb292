package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"

	"github.com/meshproof/meshproof/policy/gateway"
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
are known, and with them the status that a controller would publish.`,
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
			estates, err := readEstates(args[1:], filter)
			if err != nil {
				return err
			}
			return printPolicies(cmd.OutOrStdout(), resources(estates, namespace), output)
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

// resources are the policies in the order in which they are written, with their
// status where the pods are known.
func resources(estates []estate, namespace string) []gateway.AuthorizationPolicy {
	out := []gateway.AuthorizationPolicy{}
	for _, e := range estates {
		for i, p := range e.policies {
			r := p.Resource()
			if namespace != "" && r.Metadata.Namespace != namespace {
				continue
			}
			if e.pods != nil {
				status := gateway.Status(e.docs[i], e.pods)
				r.Status = &status
			}
			out = append(out, r)
		}
	}
	return out
}

func printPolicies(w io.Writer, policies []gateway.AuthorizationPolicy, output getFormat) error {
	if output == getTable {
		printTable(w, policies)
		return nil
	}
	text, err := json.MarshalIndent(struct {
		APIVersion string                        `json:"apiVersion"`
		Kind       string                        `json:"kind"`
		Items      []gateway.AuthorizationPolicy `json:"items"`
	}{"v1", "List", policies}, "", "  ")
	if err == nil && output == getYAML {
		text, err = yaml.JSONToYAML(text)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", strings.TrimSpace(string(text)))
	return err
}

func printTable(w io.Writer, policies []gateway.AuthorizationPolicy) {
	table := columns{{"NAMESPACE", "NAME", "KIND", "RULES", "ACCEPTED", "REASON"}}
	for _, p := range policies {
		rules, accepted, reason := 0, "", ""
		if p.Spec.Rules != nil {
			rules = len(*p.Spec.Rules)
		}
		if p.Status != nil {
			for _, a := range p.Status.Ancestors {
				for _, c := range a.Conditions {
					accepted, reason = printable(c.Status), printable(c.Reason)
				}
			}
		}
		table = append(table, []string{p.Metadata.Namespace, p.Metadata.Name, p.Kind, fmt.Sprint(rules), accepted, reason})
	}
	for _, line := range table.lines() {
		fmt.Fprintln(w, line)
	}
}
