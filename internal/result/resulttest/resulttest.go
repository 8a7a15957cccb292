// Package resulttest stands in for a run, for the tests of what reads its results.
//
// It guarantees that each request through a sidecar is in the results, with nothing against it. It asks no
// Envoy. Only tests import it.
package resulttest

import (
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/verdict"
)

// Run returns what became of the requests through sidecars.
func Run(sides []*verdict.Reading) (out []result.Case) {
	for _, side := range sides {
		c := result.Case{Case: side.Case}
		for _, q := range side.Case.RoutedRequests {
			c.RoutedRequests = append(c.RoutedRequests, result.RoutedRequest{RoutedRequest: q})
		}
		out = append(out, c)
	}
	return out
}
