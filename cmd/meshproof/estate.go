package main

import (
	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/gateway"
	"github.com/meshproof/meshproof/policy/manifest"
)

// estate is what a cluster would hold: AuthorizationPolicies, and the pods that
// they may select. Policies of other dialects are left out.
type estate struct {
	docs     []manifest.Document
	policies []gateway.Policy
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
		e, err := newEstate(c.Policies)
		if err != nil {
			return nil, err
		}
		e.pods = podsOf(c)
		out = append(out, e)
	}
	if len(files.Policies) == 0 {
		return out, nil
	}
	e, err := newEstate(files.Policies)
	return append(out, e), err
}

func newEstate(docs []manifest.Document) (e estate, err error) {
	for _, doc := range docs {
		if gateway.Owns(doc) {
			e.docs = append(e.docs, doc)
		}
	}
	e.policies, err = gateway.ParseAll(e.docs)
	return e, err
}

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
