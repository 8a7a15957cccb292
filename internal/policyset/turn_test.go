package policyset

import (
	"strings"
	"testing"

	"github.com/meshproof/meshproof/cases"
)

// TestTurns draws the sets of runs, and holds that no first letter and no missing peers are left to chance:
// a compiler that is wrong for these alone meets a question of each run.
func TestTurns(t *testing.T) {
	t.Parallel()
	usual, err := cases.Load("../../cases/gateway")
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(2) {
		begins := map[string]map[string]bool{}
		note := func(kind, name string) {
			if begins[kind] == nil {
				begins[kind] = map[string]bool{}
			}
			begins[kind][name[:1]] = true
		}
		alone, hyphens, long := 0, 0, 0
		for number := range uint64(Turns) {
			c := DrawFresh(seed, number, GatewayAPI)
			if number%2 == 1 {
				if of, ok := FromCase(usual[number%uint64(len(usual))], seed, number); ok {
					c = of
				}
			}
			for _, in := range c.Inbounds {
				note("workloads", in.Workload.Name)
				note("namespaces", in.Workload.Namespace)
				hyphens += strings.Count(in.Workload.Name, "-")
				if len(in.Workload.Name) > 25 {
					long++
				}
			}
			note("trust domains", c.TrustDomains[0].Name())
			for _, p := range c.Policies {
				var v any
				if err := p.Decode(&v); err != nil {
					t.Fatal(err)
				}
				for _, account := range accountsIn(v) {
					note("service accounts", account)
				}
			}
			if len(c.Options.Peers) == 0 {
				alone++
			}
		}
		for kind, of := range begins {
			var missing []string
			for _, letter := range firsts[:26] {
				if !of[string(letter)] {
					missing = append(missing, string(letter))
				}
			}
			digit := false
			for _, d := range "0123456789" {
				digit = digit || of[string(d)]
			}
			most := map[string]int{"service accounts": 13, "namespaces": 13}[kind]
			if len(missing) > most || !digit {
				t.Errorf("seed %d: no name of %s begins with %q, with a digit: %t", seed, kind, missing, digit)
			}
		}
		if alone < 4 || hyphens == 0 || long == 0 {
			t.Errorf("seed %d: %d sets without peers, %d hyphens, %d long names", seed, alone, hyphens, long)
		}
	}
}
