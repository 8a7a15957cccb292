package routeproof_test

import (
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/routeproof"
)

// The workloads of a case send through sidecars of its routes, with the inbounds, the callers and the
// options of the case, and without its own requests.
func TestPlanOfCases(t *testing.T) {
	t.Parallel()
	var choice lab.Choice
	if err := choice.Set("^a route of the producer with"); err != nil {
		t.Fatal(err)
	}
	files, err := lab.Open(choice, "../../cases/kuma/route-authorization.yaml")
	if err != nil {
		t.Fatal(err)
	}
	files.TakeRouting()
	proofs, population, err := routeproof.Plan(files, lab.Surroundings{}, "")
	if err != nil || len(population.NotAsked()) > 0 {
		t.Fatal(err, population.NotAsked())
	}
	want := map[string]int{"web": 2, "stranger backend": 0}
	for _, p := range proofs {
		waited, ok := want[strings.Join(p.Senders, " ")]
		if !ok || p.Waited != waited || len(p.Inbounds) != 1 || len(p.Requests) > 0 || len(p.Outbounds) != 1 || len(p.Outbounds[0].Cover.Classes) != 2 {
			t.Errorf("%s waits for %d, not for %q", p.Senders, p.Waited, p.NotWaited)
		}
		for _, q := range p.RoutedRequests {
			if q.Want != "" {
				t.Errorf("%+v is a request of the case itself", q)
			}
		}
	}
	if len(proofs) != len(want) {
		t.Errorf("%d proofs", len(proofs))
	}
}
