package renaming_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/policyset"
	"github.com/meshproof/meshproof/internal/policyset/renaming"
)

// TestTurns draws the sets of runs, and holds that no first letter and no missing peers are left to chance:
// a compiler that is wrong for these alone meets a question of each run.
func TestTurns(t *testing.T) {
	t.Parallel()
	usual, err := cases.Load("../../../cases/gateway")
	if err != nil {
		t.Fatal(err)
	}
	// Runs make sets of the cases that are accepted.
	usual = slices.DeleteFunc(usual, func(c cases.Case) bool { return c.ExpectError != "" || len(c.Inbounds) == 0 })
	seeds := uint64(2)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		begins := map[string]map[string]bool{}
		note := func(kind, name string) {
			if begins[kind] == nil {
				begins[kind] = map[string]bool{}
			}
			begins[kind][name[:1]] = true
		}
		alone, hyphens, long := 0, 0, 0
		for number := range uint64(5 * renaming.Turns) {
			var c cases.Case
			// Where the number of cases and that of turns have a divisor, each turn would have the same few cases.
			of := usual[(number+number/renaming.Turns)%uint64(len(usual))]
			if number >= renaming.Turns {
				number += 1 << 16 // as those that are read back on paper
			}
			made := false
			if number%2 == 1 || number >= renaming.Turns {
				c, made = policyset.FromCase(of, seed, number)
			}
			if !made {
				c = policyset.DrawFresh(seed, number, policyset.GatewayAPI)
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
				for _, account := range renaming.AccountsIn(v) {
					note("service accounts", account)
				}
			}
			if len(c.Options.Peers) == 0 {
				alone++
			}
		}
		for kind, of := range begins {
			var missing []string
			for _, c := range renaming.Firsts {
				if !of[string(c)] {
					missing = append(missing, string(c))
				}
			}
			if most := map[string]int{"trust domains": 8, "service accounts": 24, "namespaces": 28}[kind]; len(missing) > most {
				t.Errorf("seed %d: no name of %s begins with %q", seed, kind, missing)
			}
		}
		if alone < 4 || hyphens == 0 || long == 0 {
			t.Errorf("seed %d: %d sets without peers, %d hyphens, %d long names", seed, alone, hyphens, long)
		}
	}
}
