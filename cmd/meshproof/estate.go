package main

import (
	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/dialect"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
)

// estate is what a cluster would hold: AuthorizationPolicies, and the pods that
// they may select.
type estate struct {
	docs []manifest.Document
	// pods are those of a case; policy files have none.
	pods []policy.Workload
}

// readEstates reads case files, of which each case is an estate of its own, and
// policy files, which are one together.
func readEstates(paths []string, filter caseFilter) ([]estate, error) {
	files, err := lab.Read(lab.Choice{Pattern: filter.pattern}, paths...)
	if err != nil {
		return nil, err
	}
	var out []estate
	for _, c := range files.Cases {
		out = append(out, estate{c.Policies, podsOf(c)})
	}
	if len(files.Policies) == 0 {
		return out, nil
	}
	return append(out, estate{docs: files.Policies}), nil
}

// lister is the dialect whose policies are objects.
func lister() language.Lister { return dialect.Having[language.Lister]()[0] }

// podsOf returns each workload once, whatever the number of its inbounds.
func podsOf(c cases.Case) []policy.Workload {
	var out []policy.Workload
	seen := map[string]bool{}
	for _, in := range c.Inbounds {
		if name := in.Workload.Name; !seen[name] {
			seen[name] = true
			out = append(out, in.Workload)
		}
	}
	return out
}
