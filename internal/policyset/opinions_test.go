package policyset_test

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/casewriter"
	"github.com/meshproof/meshproof/internal/policyset"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/classes"
	"github.com/meshproof/meshproof/policy/dialect"
	"github.com/meshproof/meshproof/xds"
	"github.com/meshproof/meshproof/xds/lift"
)

// mostAsked bounds the classes of an inbound that are asked with their neighbours.
const mostAsked = 200

// agree holds three opinions against each other on every class of a set and on its
// borders: the program, the text of the policies, and the filters read back.
func agree(t testing.TB, c cases.Case) (asked int) {
	t.Helper()
	set, err := dialect.Parse(c.Policies, c.Options)
	if err != nil {
		t.Fatalf("%v:\n%s", err, casewriter.YAML(c))
	}
	for _, in := range c.Inbounds {
		if err := set.Check(in.Inbound); err != nil {
			t.Fatalf("%v:\n%s", err, casewriter.YAML(c))
		}
		program := set.Program(in.Inbound).Program
		filters, err := xds.Compile(program)
		if err != nil {
			t.Fatalf("%v:\n%s", err, casewriter.YAML(c))
		}
		back, lost := lift.Program(filters, 0)
		if len(lost) > 0 {
			t.Fatalf("%s: lost %q of\n%s", in, lost, program)
		}
		cover := classes.Of(classes.Surface{Protocol: in.Protocol}, program, back)
		ask := func(r policy.Request) {
			asked++
			first, second, third := policy.Decide(program, r), set.Evaluate(in.Inbound, r), policy.Decide(back, r)
			if first != second || first != third {
				t.Fatalf("%s: %+v (-program +text):\n%s(-program +filters):\n%s%s\n%s", in, r, cmp.Diff(first, second), cmp.Diff(first, third), program, casewriter.YAML(c))
			}
		}
		for i, class := range cover.Classes[:min(len(cover.Classes), mostAsked)] {
			ask(class.Witness)
			for _, n := range cover.Neighbours(i) {
				ask(n.Request)
			}
		}
	}
	return asked
}

func TestOpinionsAgree(t *testing.T) {
	t.Parallel()
	asked, sets := 0, setsOf(500, 50)
	for number := range uint64(sets) {
		asked += agree(t, policyset.Draw(4, number))
	}
	if asked < 20*sets {
		t.Errorf("%d requests were asked of %d sets", asked, sets)
	}
}

// FuzzOpinions looks for sets of policies on which the opinions in Go disagree; a byte
// of the corpus is a choice of the generator.
func FuzzOpinions(f *testing.F) {
	f.Add([]byte(nil))
	for seed := range uint64(32) {
		choices := make([]byte, 200)
		r := rand.New(rand.NewPCG(seed, 0))
		for i := range choices {
			choices[i] = byte(r.UintN(256))
		}
		f.Add(choices)
	}
	f.Fuzz(func(t *testing.T, choices []byte) { agree(t, policyset.DrawFrom(choices)) })
}
