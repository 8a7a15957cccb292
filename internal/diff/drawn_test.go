package diff

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/policyset/choice"
	"github.com/meshproof/meshproof/internal/property"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
)

// TestDrawnWidenings holds [Diff] against brute force. It draws two small sets of policies of each dialect, and asks many concrete
// workloads, by the text of the policies, whether NEW lets in a request that OLD keeps out. These workloads know nothing of the
// inbounds that package lab makes. Most of what NEW opens is hidden by other policies, but for one workload or a few. What is
// open has to be told, and each widening that is told has to have a witness by the text.
func TestDrawnWidenings(t *testing.T) {
	t.Parallel()
	seed, pairs := property.Seed(t), uint64(100)
	if testing.Short() {
		pairs = 3
	}
	for _, d := range drawnDialects {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			open, classes := 0, 0
			for number := range pairs {
				p := d.pair(t, choice.Random(seed, number))
				found := p.diff(t)
				if found == nil {
					continue // it is refused, and no answer says that nothing widens
				}
				if found.counts()[Widened] > 0 {
					classes++
				}
				if problem := unwitnessed(found); problem != "" {
					t.Errorf("pair %d of seed %d: %s\n%s", number, seed, problem, p)
				}
				if len(p.opened) == 0 {
					continue
				}
				open++
				if len(found.widenings()) == 0 {
					t.Errorf("pair %d of seed %d: nothing widens, and NEW opens %s\n%s", number, seed, p.opened[0], p)
				}
			}
			if !testing.Short() && open < int(pairs)/20 {
				t.Errorf("of %d pairs %d open something, and %d by a class: that proves nothing", pairs, open, classes)
			}
		})
	}
}

// diff compares both sets as two files without workloads. It returns nil where the comparison is refused.
func (p drawnPair) diff(t *testing.T) *Difference {
	t.Helper()
	var sides [2]Side
	for i, texts := range [][]string{p.old, p.recent} {
		path := filepath.Join(t.TempDir(), "p.yaml")
		if err := os.WriteFile(path, []byte(strings.Join(texts, "\n---\n")), 0o600); err != nil {
			t.Fatal(err)
		}
		files, err := Open(lab.Choice{}, path)
		if err != nil {
			t.Fatalf("%v\n%s", err, p)
		}
		s := lab.Surroundings{Inbound: policy.Inbound{Port: 8080, Workload: policy.Workload{Name: "backend", Namespace: "default", Mesh: "default"}}, Options: p.options}
		s.Options.Dialect = "" // a set without policies is of the dialect of the other one
		sides[i] = Side{files, s}
	}
	d, err := Diff(sides[0], sides[1], "")
	if err != nil {
		return nil
	}
	return d
}

// unwitnessed names a class that is said to widen, and of whose witness the text of the policies says otherwise; "" for none.
func unwitnessed(d *Difference) string {
	for _, c := range d.Cases {
		for _, found := range c.Comparisons {
			for _, change := range found.Changes {
				if change.Kind() != Widened {
					continue
				}
				was, is := letsIn(found.old, found.recent, change.Witness), letsIn(found.recent, found.old, change.Witness)
				if was || !is {
					return fmt.Sprintf("a widening of %s has no witness: OLD lets it in: %t, NEW: %t: %+v", found.Inbound, was, is, change.Witness)
				}
			}
		}
	}
	return ""
}

// letsIn reports whether an inbound lets a witness in, by the text of the policies. Where one side takes plaintext, callers without a name
// come in plaintext.
func letsIn(in, other verdict.Inbound, witness policy.Request) bool {
	if verdict.Nameless(witness) && (in.MTLS.TakesPlaintext() || other.MTLS.TakesPlaintext()) && (!in.MTLS.TakesPlaintext() || !in.Program.JudgesPlaintext) {
		return in.MTLS.TakesPlaintext()
	}
	return !isKeptOut(in, witness) && in.Reading().Set().Evaluate(in.Inbound.Inbound)(in.Placed(witness)).Effect == policy.Allow
}
