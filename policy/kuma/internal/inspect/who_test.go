package inspect

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/lowering"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/kuma/internal/selection"
)

// Every identity gets the decision of its group.
func TestEachIdentityIsDecidedAsItsGroup(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		text := randomPolicies(rng)
		r := parse(t, dataplaneOnly+text, permission.Options{})
		m, _, in, refusal := r.chosen("kri_dp_default___backend_http-port")
		if refusal != nil {
			t.Fatal(refusal.Detail)
		}
		sel := selection.Select(m.policies, in, r.opts)
		program := lowering.Lower(sel, in, r.opts)
		for _, path := range []string{"/", "/metrics"} {
			groups, total := question{Method: "GET", Path: path}.groups(sel, in, r.opts)
			if len(groups) != total {
				t.Fatalf("%d of %d groups", len(groups), total)
			}
			for _, id := range someIdentities() {
				request := policy.Request{Method: "GET", Path: path}
				if id != "" {
					request.URIs = []string{id}
				}
				want := policy.Decide(program, request)
				if diff := cmp.Diff(want, groupOf(groups, id).Decision); diff != "" {
					t.Fatalf("%q at %s (-decided +group):\n%s\n%s", id, path, diff, text)
				}
			}
		}
	}
}

// groupOf takes the longest pattern, and an identity before the prefix of that
// length.
func groupOf(groups []group, id string) group {
	best, length := groups[len(groups)-1], -1
	for _, g := range groups[:len(groups)-1] {
		prefix, isPrefix := strings.CutSuffix(g.Pattern, "…")
		if isPrefix && strings.HasPrefix(id, prefix) && len(prefix) > length || !isPrefix && id == g.Pattern {
			best, length = g, len(prefix)
			if !isPrefix {
				return g
			}
		}
	}
	return best
}

var pieces = []string{"spiffe://td", "spiffe://td/", "spiffe://td/a", "spiffe://td/a/", "spiffe://td/a/b", "spiffe://td/ab", "spiffe://te/"}

func someIdentities() []string {
	out := []string{""}
	for _, p := range pieces {
		out = append(out, p, p+"x", p+"/x", strings.TrimSuffix(p, "/")+"/a/b")
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func randomPolicies(rng *rand.Rand) string {
	var b strings.Builder
	for i := range 1 + rng.IntN(3) {
		fmt.Fprintf(&b, "---\ntype: MeshTrafficPermission\nname: p%d\nspec:\n  default:\n", i)
		for _, list := range []string{"deny", "allowWithShadowDeny", "allow"} {
			fmt.Fprintf(&b, "    %s:\n", list)
			for range 1 + rng.IntN(2) {
				kind, value := "Prefix", pieces[rng.IntN(len(pieces))]
				if rng.IntN(2) == 0 && !strings.HasSuffix(value, "/") {
					kind = "Exact"
				}
				fmt.Fprintf(&b, "      - spiffeId: {type: %s, value: %q}\n", kind, value)
				if rng.IntN(3) == 0 {
					b.WriteString("        path: {type: Prefix, value: /metrics}\n")
				}
			}
		}
	}
	return b.String()
}

// A page with very many groups says how many groups it leaves out.
func TestManyGroups(t *testing.T) {
	t.Parallel()
	body := get(t, parse(t, many(400), permission.Options{}), "/?inbound=kri_dp_default___backend_http-port").Body.String()
	if want := "(the first 500 of 1201 groups)"; !strings.Contains(body, want) {
		t.Errorf("want %q", want)
	}
	if got := strings.Count(body, `<th scope="row">`); got != maxGroups {
		t.Errorf("%d groups, want %d", got, maxGroups)
	}
	if !strings.Contains(body, "everybody else</th>") {
		t.Error("the page has no row for the other identities")
	}
}
