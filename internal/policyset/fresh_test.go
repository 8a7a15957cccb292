package policyset

import (
	"regexp"
	"testing"

	"github.com/meshproof/meshproof/internal/casewriter"
	"github.com/meshproof/meshproof/internal/classes"
	"github.com/meshproof/meshproof/internal/feature"
	"github.com/meshproof/meshproof/internal/verdict"
)

// Fresh names change no decision: a set has as many classes as with the usual names. No usual
// name is left.
func TestDrawFresh(t *testing.T) {
	t.Parallel()
	differ := 0
	for number := range uint64(200) {
		usual, fresh := Draw(7, number), DrawFresh(7, number)
		text := string(casewriter.YAML(fresh))
		for _, known := range []string{ownDomain.Name(), otherDomain.Name(), "http-port", "8080", "5432", "9090", "orders", "prod"} {
			if regexp.MustCompile(`\b` + regexp.QuoteMeta(known) + `\b`).MatchString(text) {
				t.Fatalf("%q is still there:\n%s", known, text)
			}
		}
		a, err := verdict.Read(usual)
		if err != nil {
			t.Fatal(err)
		}
		b, err := verdict.Read(fresh)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		for i, in := range a.Inbounds() {
			of := func(in verdict.Inbound) int { return len(classes.Of(in.Surface(), in.Program.Program).Classes) }
			if x, y := of(in), of(b.Inbounds()[i]); x != y {
				differ++
			}
		}
		if again := DrawFresh(7, number); string(casewriter.YAML(again)) != text {
			t.Fatalf("set %d is drawn otherwise the second time", number)
		}
	}
	// Policies are ordered by their names, and identities by their bytes.
	if differ > 60 {
		t.Errorf("%d inbounds have another number of classes", differ)
	}
}

// Each feature of the table is needed by some sets, and, where it is a choice, not by others.
func TestNeeds(t *testing.T) {
	t.Parallel()
	for _, p := range feature.Profiles() {
		count := map[feature.Name]int{}
		const sets = 400
		for number := range uint64(sets) {
			for _, name := range Needs(Draw(3, number, Forms(p)...)) {
				if f, ok := feature.Lookup(name); !ok {
					t.Fatalf("there is no feature %s", name)
				} else if f.Profile == p {
					count[name]++
				}
			}
		}
		for _, n := range needs {
			if n.profile == p && (count[n.feature] == 0 || count[n.feature] == sets) {
				t.Errorf("%d of %d sets need %s", count[n.feature], sets, n.feature)
			}
		}
		if name := permissive[p]; count[name] == 0 || count[name] == sets {
			t.Errorf("%d of %d sets need %s", count[name], sets, name)
		}
	}
}
