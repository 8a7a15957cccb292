package classes_test

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spiffe/go-spiffe/v2/spiffeid"
	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/internal/draw"
	"github.com/meshproof/meshproof/internal/property"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/classes"
)

// sendable reports whether a caller can send the request, apart from what the
// documentation of Cover leaves out.
func sendable(on classes.Surface, p policy.Program, r policy.Request) bool {
	perName, _ := looksAt(p)
	for i, uri := range r.URIs {
		if i > 0 && perName {
			break
		}
		id, err := spiffeid.FromString(uri)
		if err != nil || id.Path() == "" || len(on.TrustDomains) > 0 && !slices.Contains(on.TrustDomains, id.TrustDomain().Name()) {
			return false
		}
	}
	if perName && len(r.URIs) == 0 && len(r.DNS) > 0 {
		return false
	}
	if r.SNI != strings.ToLower(r.SNI) || strings.HasSuffix(r.SNI, ".") || net.ParseIP(r.SNI) != nil || strings.Contains(r.SNI, " ") {
		return false
	}
	if r.Port != 0 && len(on.Ports) > 0 && !slices.Contains(on.Ports, r.Port) || r.Source.IsMulticast() || r.Source.IsValid() && r.Source.IsUnspecified() {
		return false
	}
	if on.Protocol == policy.TCP {
		return true
	}
	path, err := on.Normalization.Apply(r.Path)
	return err == nil && path == r.Path && strings.HasPrefix(path, "/") && (r.Method != "get" || on.Protocol != policy.HTTP)
}

// looksAt reports whether a program has conditions on single names, and conditions on all
// names as one text.
func looksAt(p policy.Program) (perName, joined bool) {
	for _, c := range leavesOf(p) {
		is, _ := c.(policy.Is)
		perName = perName || is.Attribute == attribute.URISAN
		joined = joined || is.Attribute == attribute.Identity
	}
	return perName, joined
}

func leaves(c policy.Condition) (out []policy.Condition) {
	for c := range policy.Walk(c) {
		switch c.(type) {
		case policy.And, policy.Or, policy.Not:
		default:
			out = append(out, c)
		}
	}
	return out
}

// leavesOf returns the leaves of the conditions of a program.
func leavesOf(p policy.Program) (out []policy.Condition) {
	var inRules func(rules []policy.Rule)
	inRules = func(rules []policy.Rule) {
		for _, r := range rules {
			out = append(out, leaves(r.When)...)
			inRules(r.Then)
		}
	}
	inGates := func(lists ...[]policy.Gate) {
		for _, g := range slices.Concat(lists...) {
			inRules(g.Rules)
		}
	}
	inGates(p.Gates, p.Shadows)
	for _, r := range p.Routes {
		out = append(out, leaves(r.When)...)
		inGates(r.Gates, r.Shadows)
	}
	return out
}

// TestEveryRequestHasItsClass checks the promises of Cover, and Unreachable, with requests
// that were drawn without it.
func TestEveryRequestHasItsClass(t *testing.T) {
	t.Parallel()
	property.Check(t, func(t *rapid.T) {
		on := surface().Draw(t, "surface")
		p := classedProgram(on.Protocol.Layer()).Draw(t, "program")
		cover := classes.Cut(on, p)
		for _, class := range cover.Classes {
			if !sendable(on, p, class.Witness) {
				t.Fatalf("no caller can send the witness %+v of %s", class.Witness, class)
			}
		}
		for i := range cover.Classes {
			for _, n := range cover.Neighbours(i) {
				if !sendable(on, p, n.Request) {
					t.Fatalf("no caller can send the neighbour %+v", n)
				}
			}
		}
		for _, r := range rapid.SliceOfN(anyone(on.Protocol.Layer()), 20, 20).Draw(t, "requests") {
			if !sendable(on, p, r) {
				continue
			}
			perName, joined := looksAt(p)
			if _, ok := cover.Locate(r); !ok && !(perName && joined && len(r.URIs)+len(r.DNS) > 1) {
				t.Fatalf("%+v is in no class of %s\n%s", r, cover, p)
			}
			if !cover.Complete() {
				continue
			}
			// In a complete cover some class has the decision of this caller.
			want := policy.Decide(p, r)
			if !slices.ContainsFunc(cover.Classes, func(c classes.Class) bool { return policy.Decide(p, c.Witness) == want }) {
				t.Fatalf("no class is decided as %+v: %+v\n%s\n%s", r, want, cover, p)
			}
		}
	})
}

// TestCellsAreBounded holds the number of classes of n identity matchers to 2n+1.
func TestCellsAreBounded(t *testing.T) {
	t.Parallel()
	matcher := rapid.Custom(func(t *rapid.T) policy.Is {
		return policy.Is{Attribute: attribute.Identity, Match: policy.Match{Kind: rapid.SampledFrom([]policy.MatchKind{policy.Exact, policy.Prefix}).Draw(t, "kind"), Value: rapid.OneOf(rapid.SampledFrom(draw.Identities), rapid.StringMatching(`spiffe://td/[ab]{0,3}/?`), rapid.StringMatching(`(spiffe:/?/?|t)?`)).Draw(t, "value")}}
	})
	property.Check(t, func(t *rapid.T) {
		matchers := rapid.SliceOfNDistinct(matcher, 1, 12, rapid.ID).Draw(t, "matchers")
		// Each matcher decides a program of its own, so that none hides another one.
		var programs []policy.Program
		for _, m := range matchers {
			programs = append(programs, policy.Program{Gates: []policy.Gate{{Rules: []policy.Rule{rule(policy.Allow, "", m)}}}})
		}
		cover := classes.Cut(classes.Surface{}, programs...)
		callers := cover.Dimensions[0]
		if n := len(matchers); len(cover.Classes) > 2*n+1 || callers.Matchers != n || len(cover.Classes) != callers.Cells || callers.Cells+len(callers.Unreachable) > n+1 {
			t.Fatalf("%d matchers make %d classes, %+v", n, len(cover.Classes), callers)
		}
		r := anyone(policy.L4).Draw(t, "request")
		at, ok := cover.Locate(r)
		if !ok {
			return
		}
		for _, m := range matchers {
			if m.Holds(&r) != m.Holds(&cover.Classes[at].Witness) {
				t.Fatalf("%s tells %+v from its witness %+v", m, r, cover.Classes[at].Witness)
			}
		}
	})
}

func TestClassesAreDeterministic(t *testing.T) {
	t.Parallel()
	property.Check(t, func(t *rapid.T) {
		on := surface().Draw(t, "surface")
		p := classedProgram(on.Protocol.Layer()).Draw(t, "program")
		dump := func() (out []string) {
			cover := classes.Cut(on, p)
			for i, class := range cover.Classes {
				out = append(out, fmt.Sprint(class, class.Witness, cover.Neighbours(i)))
			}
			return append(out, cover.String(), fmt.Sprintf("%+v", cover.Dimensions))
		}
		if diff := cmp.Diff(dump(), dump()); diff != "" {
			t.Fatalf("(-first +second):\n%s", diff)
		}
	})
}
