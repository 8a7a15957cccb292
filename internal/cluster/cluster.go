// Package cluster shows policies as an API server would: as objects with a status, and by
// the pods that they select.
//
// It guarantees that an object that is not valid is shown too, as it was written. The
// dialect says what an object is; documents of other dialects are left out.
package cluster

import (
	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
)

// cluster is what one cluster holds.
type cluster struct {
	policies []manifest.Document
	// routing are the routes, timeouts and services.
	routing []manifest.Document
	// pods are the workloads of a case, nil for policy files.
	pods []policy.Workload
	// options are those of a case, the defaults for policy files.
	options language.Options
}

// clustersOf returns a cluster for each case, and one for all policies outside of cases,
// where there are any.
func clustersOf(files *lab.Files) []cluster {
	var out []cluster
	for _, c := range files.Cases {
		out = append(out, cluster{c.Policies, c.Routing, podsOf(c), c.Options})
	}
	if len(files.Policies)+len(files.Routing) > 0 {
		out = append(out, cluster{policies: files.Policies, routing: files.Routing})
	}
	return out
}

// podsOf returns each workload once, with any number of inbounds.
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
