package mistake_test

import (
	"testing"

	"github.com/meshproof/meshproof/internal/mistake"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/classes"
)

// A mistake is shown by a request that it decides otherwise, where a policy is asked about one.
func TestShown(t *testing.T) {
	t.Parallel()
	original := policy.Program{Gates: []policy.Gate{{Layer: policy.L7, Default: policy.Verdict{Origin: "default"}, Rules: []policy.Rule{{
		Verdict: policy.Verdict{Effect: policy.Allow, Origin: "p"},
		When:    policy.And{attribute.Identity.Prefix("spiffe://td/a"), attribute.Path.Exact("/a")},
	}}}}}
	shown := 0
	for _, m := range mistake.Enumerate(original) {
		r, ok := m.Shown(classes.Surface{}, func(policy.Request) bool { return true }, original)
		if !ok || !m.Changes(original, r) {
			t.Errorf("%s at %s: shown %t by %+v", m.Kind, m.Where, ok, r)
		}
		if ok {
			shown++
		}
		if r, ok := m.Shown(classes.Surface{}, func(policy.Request) bool { return false }, original); ok {
			t.Errorf("%s at %s is shown by %+v, which no policy is asked about", m.Kind, m.Where, r)
		}
	}
	if shown < 3 {
		t.Errorf("%d mistakes are shown", shown)
	}
}

// An end of a range that is off by one is shown by a number at that end.
func TestShownByNumbers(t *testing.T) {
	t.Parallel()
	original := policy.Program{Gates: []policy.Gate{{Layer: policy.L7, Default: policy.Verdict{Origin: "default"}, Rules: []policy.Rule{{
		Verdict: policy.Verdict{Effect: policy.Allow, Origin: "p"},
		When: policy.Or{
			policy.Is{Attribute: attribute.Claim("level", "#"), Match: policy.Match{Kind: policy.Range, Value: "[1,7.5)"}},
			attribute.Claim("ranks", "[#]").Exact("3"),
		},
	}}}}}
	missed := 0
	for _, m := range mistake.Enumerate(original) {
		if m.Kind != mistake.EndMissed {
			continue
		}
		missed++
		if r, ok := m.Shown(classes.Surface{}, func(policy.Request) bool { return true }, original); !ok || !m.Changes(original, r) {
			t.Errorf("%s: shown %t by %+v", m.Where, ok, r)
		}
	}
	if missed != 6 {
		t.Errorf("%d ends are missed, want each of the range and of the number, by one more and one less", missed)
	}
}
