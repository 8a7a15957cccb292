package explanation_test

import (
	"path/filepath"
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/explanation"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/routeverdict"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
)

// TestRoutedAgreesWithRuns holds that explain names, for every request through a sidecar of the built-in
// cases, the route that a run expects to take it, and what the inbounds behind decide.
func TestRoutedAgreesWithRuns(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../cases/kuma/route-*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	for _, name := range files {
		all, err := lab.Open(lab.Choice{}, name)
		if err != nil {
			t.Fatal(err)
		}
		all.TakeRouting()
		for _, c := range all.Cases {
			reading, err := verdict.Read(c)
			if err != nil || len(c.RoutedRequests) == 0 {
				continue
			}
			routed, err := routeverdict.Read(reading)
			if err != nil {
				t.Fatal(err)
			}
			of := *all
			of.Cases = []cases.Case{c}
			for i, q := range c.RoutedRequests {
				x := routed.Expected[i]
				got, err := explanation.ExplainRouted(&of, lab.Surroundings{}, explanation.Caller{Name: q.From}, q.To, cases.Request{Method: q.Method, Path: q.Path, Authority: q.Authority, Headers: q.Headers, GRPC: q.GRPC})
				if err != nil {
					t.Errorf("%s: %s: %v", c.Name, q.Place, err)
					continue
				}
				asked++
				taken := ""
				for _, r := range got.Routes {
					if r.Takes {
						taken = r.Name
					}
				}
				if taken != x.Decision.Route {
					t.Errorf("%s: %s: explain names the route %q, and a run %q", c.Name, q.Place, taken, x.Decision.Route)
				}
				decided := map[string]string{}
				for _, b := range got.Backends {
					for _, in := range b.Inbounds {
						decided[in.Inbound] = in.Decision
					}
				}
				for _, o := range x.Outcomes {
					if o.Verdict != nil && decided[o.Inbound] != o.Verdict.String() {
						t.Errorf("%s: %s: explain says that %s decides %q, and a run %q", c.Name, q.Place, o.Inbound, decided[o.Inbound], o.Verdict)
					}
				}
			}
		}
	}
	if asked < 100 {
		t.Errorf("%d requests were explained", asked)
	}
}

// Envoy compares the name of a header in lower case, and its value without spaces at the ends.
func TestRoutedByHeaderAsWritten(t *testing.T) {
	t.Parallel()
	for _, line := range []policy.Header{{Name: "x-version", Value: "2"}, {Name: "X-Version", Value: "2"}, {Name: "x-version", Value: " 2 "}} {
		p, err := explainRouted(t, "../../examples/routes", "web", "MeshService/backend:80", cases.Request{Method: "GET", Path: "/slow-endpoint", Headers: []policy.Header{line}})
		if err != nil {
			t.Fatal(err)
		}
		if !p.Routes[0].Takes {
			t.Errorf("%q: the route for version 2 does not take it", line)
		}
	}
}
