package lift

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/property"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/classes"
	"github.com/meshproof/meshproof/policy/dialect"
	"github.com/meshproof/meshproof/xds"
)

// What package xds made of a program decides as the program does.
func TestProgramOfCompiled(t *testing.T) {
	t.Parallel()
	property.Check(t, func(t *rapid.T) {
		p := drawProgram(t)
		back := sameProgram(t, p)
		for range 20 {
			r := drawRequest(t)
			if want, got := policy.Decide(p, r), policy.Decide(back, r); got != want {
				t.Fatalf("request %+v\n got %+v\nwant %+v\nprogram:\n%sread back:\n%s", r, got, want, p, back)
			}
			if want, got := verdicts(p, r), verdicts(back, r); !slices.Equal(want, got) {
				t.Fatalf("request %+v\n got %q\nwant %q\nprogram:\n%sread back:\n%s", r, got, want, p, back)
			}
		}
	})
}

// verdicts lists what each gate and each shadow says of a request.
func verdicts(p policy.Program, r policy.Request) (out []string) {
	_, traces := policy.Explain(p, r)
	for _, t := range traces {
		out = append(out, fmt.Sprintf("%s %s %t %s", t.Gate.Layer, t.Gate.Name, t.Shadow, t.Verdict))
	}
	return out
}

// sameProgram compiles a program and reads it back.
func sameProgram(t fataler, p policy.Program) policy.Program {
	f, err := xds.Compile(p)
	if err != nil {
		t.Fatalf("%v", err)
	}
	back, lost := Program(f, 0)
	if len(lost) > 0 {
		t.Fatalf("lost %q of the program:\n%s", lost, p)
	}
	if err := back.Check(); err != nil {
		t.Fatalf("%v: program:\n%sread back:\n%s", err, p, back)
	}
	return back
}

type fataler interface{ Fatalf(string, ...any) }

// The same for each inbound of the cases, on requests of its classes and on their
// neighbours. One story has thousands of rules and takes nine tenths of the time: -short
// leaves it out.
func TestProgramOfStories(t *testing.T) {
	t.Parallel()
	stories, requests := must[[]cases.Case](t)(cases.Stories()), 0
	for _, c := range stories {
		if testing.Short() && c.Story == "legacy-size" {
			continue
		}
		set, err := dialect.Parse(c.Policies, c.Options)
		if err != nil {
			continue
		}
		for _, in := range c.Inbounds {
			if set.Check(in.Inbound) != nil {
				continue
			}
			p := set.Program(in.Inbound).Program
			back := sameProgram(t, p)
			for _, r := range someRequests(classes.Cut(classes.Surface{Protocol: in.Protocol, Normalization: c.Normalization}, p, back)) {
				requests++
				if want, got := policy.Decide(p, r), policy.Decide(back, r); got != want {
					t.Errorf("%s: request %+v\n got %+v\nwant %+v\nprogram:\n%sread back:\n%s", c.Place, r, got, want, p, back)
				}
			}
		}
	}
	if requests < len(stories) {
		t.Errorf("%d requests in %d cases", requests, len(stories))
	}
}

// someRequests returns one of each class and neighbours of the first ones, of some
// hundred classes where there are thousands.
func someRequests(c *classes.Cover) (out []policy.Request) {
	for i := 0; i < len(c.Classes); i += 1 + len(c.Classes)/200 {
		out = append(out, c.Classes[i].Witness)
	}
	for i := range min(len(c.Classes), 20) {
		neighbours := c.Neighbours(i)
		for _, n := range neighbours[:min(len(neighbours), 50)] {
			out = append(out, n.Request)
		}
	}
	return out
}

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// BenchmarkProgram reads a filter of ten thousand identities.
func BenchmarkProgram(b *testing.B) {
	var list policy.Or
	for i := range 10_000 {
		list = append(list, attribute.Identity.Exact(fmt.Sprintf("spiffe://td/ns/a/sa/%d", i)))
	}
	rule := policy.Rule{Verdict: policy.Verdict{Effect: policy.Allow, Origin: "p"}, When: list}
	f := must[xds.Filters](b)(xds.Compile(policy.Program{Gates: []policy.Gate{{Rules: []policy.Rule{rule}}}}))
	b.ReportAllocs()
	for b.Loop() {
		if p, lost := Program(f, 0); len(lost) > 0 || len(p.Gates) != 1 {
			b.Fatalf("lost %q, %d gates", lost, len(p.Gates))
		}
	}
}
