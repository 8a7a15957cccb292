// Package findings gathers the warnings of lint about cases and policies, and prints them as
// text, JSON and SARIF.
//
// It guarantees that each warning is there once, with its kind, its place, and whether its case
// expects it. It asks no Envoy.
package findings

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/rendering"
	"github.com/meshproof/meshproof/internal/routelint"
	"github.com/meshproof/meshproof/internal/sarif"
	"github.com/meshproof/meshproof/internal/spelling"
	"github.com/meshproof/meshproof/internal/terminal"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/internal/warning"
	"github.com/meshproof/meshproof/policy"
)

// Finding is a warning about a case, or about policies outside of cases.
type Finding struct {
	policy.Warning
	// Case is empty for policies outside of cases.
	Case string
	// Expected is true where the case states the warning.
	Expected bool
}

// List is in order of the places, each warning once.
type List []Finding

// Collect returns the warnings about the cases, about the routes and timeouts of the meshes, and more of them, without those of
// the ignored kinds. A case whose policies must be refused has none. Its error joins the errors of all
// refused policies.
func Collect(all []lab.Case, meshes []lab.Mesh, ignored []string, more ...policy.Warning) (List, error) {
	for _, kind := range ignored {
		if warning.Descriptions[warning.Kind(kind)] == "" {
			return nil, unknown(kind)
		}
	}
	out := List{}
	add := func(warnings []policy.Warning, of string, expected []string) {
		for _, w := range warnings {
			one := Finding{Warning: w, Case: of, Expected: slices.ContainsFunc(expected, func(text string) bool { return strings.Contains(w.String(), text) })}
			if !slices.Contains(ignored, string(w.Kind)) && !slices.Contains(out, one) {
				out = append(out, one)
			}
		}
	}
	var errs []error
	for _, c := range all {
		if c.ExpectError != "" {
			continue
		}
		reading, err := verdict.Read(c.Case)
		if errs = append(errs, err); err != nil {
			continue
		}
		if c.LintScope != nil {
			reading.LintAmong(c.LintScope)
		}
		name := c.Name
		if c.Generated {
			name = ""
		}
		add(reading.Warnings(), name, c.ExpectWarnings)
	}
	for _, m := range meshes {
		senders, _, err := m.SendersInFull(m.Surroundings)
		if errs = append(errs, err); err != nil || len(senders) == 0 {
			continue
		}
		var workloads []policy.Inbound
		for _, s := range senders {
			workloads = append(workloads, s.Workload)
		}
		var expected []string
		if m.StateCase() {
			expected = m.Cases[0].ExpectWarnings
		}
		add(slices.Concat(routelint.Lint(senders[0].Routing, workloads), rendering.Unrendered(m.Routing)), m.Case, expected)
	}
	add(more, "", nil)
	return out, errors.Join(errs...)
}

func unknown(kind string) error {
	meant := ": docs/lint.md has a list of them"
	if closest, ok := spelling.Closest(kind, kinds()); ok {
		meant = ": did you mean " + closest + "?"
	}
	return fmt.Errorf("--ignore: lint has no warning %q%s", kind, meant)
}

// Print prints each warning about the subjects once. The inbounds of one case have the same
// warnings.
func Print(w io.Writer, subjects []lab.Subject) {
	said := map[string]bool{}
	for _, s := range subjects {
		for _, one := range s.Warnings() {
			if text := one.String(); !said[text] {
				said[text] = true
				fmt.Fprintf(w, "meshproof: warning: %s\n", text)
			}
		}
	}
}

// kinds are the names of all kinds, in order.
func kinds() (out []string) {
	for _, kind := range slices.Sorted(maps.Keys(warning.Descriptions)) {
		out = append(out, string(kind))
	}
	return out
}

// Holds reports whether each warning is expected.
func (l List) Holds() bool {
	return !slices.ContainsFunc(l, func(f Finding) bool { return !f.Expected })
}

// page is where a kind is described.
const page = "https://github.com/meshproof/meshproof/blob/main/docs/lint.md#"

// WriteText prints the warnings that no case expects, and counts them.
func (l List) WriteText(w io.Writer, p terminal.Paint) {
	n := 0
	for _, f := range l {
		if !f.Expected {
			n++
			fmt.Fprintln(w, terminal.Printable(f.String()))
		}
	}
	expected := ""
	if len(l) > n {
		expected = fmt.Sprintf(", and %d that the cases expect", len(l)-n)
	}
	if n == 0 {
		fmt.Fprintln(w, p.Green("✓ no warning"+expected))
		return
	}
	plural := "s"
	if n == 1 {
		plural = ""
	}
	fmt.Fprintln(w, p.Red(fmt.Sprintf("✗ %d warning%s%s: %s has a section for each kind", n, plural, expected, strings.TrimSuffix(page, "#"))))
}

// MarshalJSON implements [encoding/json.Marshaler].
func (l List) MarshalJSON() ([]byte, error) {
	type one struct {
		Kind     warning.Kind `json:"kind"`
		Place    string       `json:"place"`
		Policy   string       `json:"policy"`
		Message  string       `json:"message"`
		Help     string       `json:"help"`
		Case     string       `json:"case,omitempty"`
		Expected bool         `json:"expected,omitempty"`
	}
	out := struct {
		Warnings []one `json:"warnings"`
	}{[]one{}}
	for _, f := range l {
		out.Warnings = append(out.Warnings, one{f.Kind, f.Place, f.Policy, f.Message, page + string(f.Kind), f.Case, f.Expected})
	}
	return terminal.MarshalJSON(out)
}

// SARIF returns the warnings that no case expects as a log. The log describes every kind.
func (l List) SARIF(version string) sarif.Log {
	var rules []sarif.Rule
	for _, kind := range kinds() {
		rules = append(rules, sarif.Rule{ID: kind, Description: warning.Descriptions[warning.Kind(kind)], Help: page + kind})
	}
	var out []sarif.Finding
	for _, f := range l {
		if !f.Expected {
			out = append(out, sarif.Finding{Rule: string(f.Kind), Text: f.Message, Place: f.Place, Level: sarif.Warning})
		}
	}
	return sarif.New(version, rules, out)
}
