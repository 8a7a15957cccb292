package routeproof_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/routeproof"
	"github.com/meshproof/meshproof/internal/script"
	"github.com/meshproof/meshproof/internal/verdict"
)

func plan(t *testing.T, path, to string) []*routeproof.Proof {
	t.Helper()
	files, err := lab.Open(lab.Choice{}, path)
	if err != nil {
		t.Fatal(err)
	}
	files.TakeRouting()
	proofs, _, err := routeproof.Plan(files, lab.Surroundings{}, to)
	if err != nil {
		t.Fatal(err)
	}
	return proofs
}

// Every class of each outbound is asked for, a request waits for each short limit, and workloads
// with one outbound side are asked once.
func TestPlan(t *testing.T) {
	t.Parallel()
	proofs := plan(t, "../../examples/routes", "")
	if len(proofs) != 2 || strings.Join(proofs[1].Senders, " ") != "backend-1 backend-v2-1" {
		t.Fatalf("%d proofs", len(proofs))
	}
	p := proofs[0]
	never, waits := 0, map[string]bool{}
	for _, q := range p.Passages {
		if q.From != "web" {
			t.Errorf("%+v", q)
		}
		if q.Answer != (script.Answer{}) {
			never++
			waits[q.Place] = true
		}
	}
	// Each route to the first version has a bound by policy.
	if never != 3 || p.Waited != 3 || len(p.NotWaited) != 3 || len(waits) != 3 {
		t.Errorf("%d requests wait for %d limits, not for %q", never, p.Waited, p.NotWaited)
	}
	if none := plan(t, "../../examples/routes", "backend-1/main"); none != nil {
		t.Error("an inbound is chosen")
	}
	if none := plan(t, "../../examples/policies", ""); none != nil {
		t.Error("there is no route")
	}
}

// A report holds only where every request was asked, and went as specified.
func TestJudge(t *testing.T) {
	t.Parallel()
	proofs := plan(t, "../../examples/routes", "")
	results := func() []result.Case {
		out := make([]result.Case, len(proofs))
		for i, p := range proofs {
			out[i].Case = p.Case.Case
			for _, q := range p.Passages {
				out[i].Passages = append(out[i].Passages, result.Passage{Passage: q})
			}
		}
		return out
	}
	report := func(r []result.Case, population lab.Population) *routeproof.Report {
		return routeproof.NewReport("1.40.0", true, proofs, population, r)
	}
	if r := report(results(), lab.Population{}); !r.Holds() || r.Sentence() != "8 of 8 classes of outbound requests took the route and the backend as specified on Envoy 1.40.0; cover complete" {
		t.Error(r.Sentence())
	}
	wrong, failed, unasked := results(), results(), results()
	wrong[0].Passages[1].Problems = []verdict.Problem{{Expected: "a", Found: "b"}}
	failed[1].Err = errors.New("Envoy refuses it")
	unasked[0].Passages = nil
	for name, r := range map[string]*routeproof.Report{
		"wrong": report(wrong, lab.Population{}), "failed": report(failed, lab.Population{}), "unasked": report(unasked, lab.Population{}),
		"policy": report(results(), lab.Population{Unasked: []lab.Unasked{{Policy: "p"}}}), "truncated": report(results(), lab.Population{Truncated: true}),
	} {
		var text strings.Builder
		if r.WriteText(&text, false); r.Holds() || r.Form().Holds || !strings.Contains(text.String(), "✗") {
			t.Errorf("%s: it holds:\n%s", name, &text)
		}
	}
}
