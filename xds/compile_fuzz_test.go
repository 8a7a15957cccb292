package xds

import (
	"testing"

	"github.com/meshproof/meshproof/internal/messages"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// FuzzCompile compiles programs with random names and values. A compiled filter follows the
// validation rules of Envoy's messages.
func FuzzCompile(f *testing.F) {
	f.Add("p", "spiffe://td/a", "/a", "GET", uint16(0))
	f.Add("kri_mtp_default___p_", "spiffe://td/", "/", "", uint16(0b1011))
	f.Add("", "", "", "", uint16(0b1111111))
	f.Add("o", "", "/", "GET", uint16(0b110)) // a name that begins with nothing
	f.Add("\xff", "a,b", "/a?", "\n", uint16(0b101010))
	f.Fuzz(func(t *testing.T, origin, caller, path, method string, choices uint16) {
		flag := func(bit int) bool { return choices>>bit&1 == 1 }
		gate := policy.Gate{Layer: policy.L7}
		if flag(0) {
			gate.Layer = policy.L4
		}
		kind, pathKind := policy.Exact, policy.Exact
		if flag(1) {
			kind, pathKind = policy.Prefix, policy.Segments
		}
		var who policy.Condition = policy.Is{Attribute: attribute.Identity, Match: policy.Match{Kind: kind, Value: caller}}
		if flag(2) {
			gate.Form, who = policy.Named, policy.Is{Attribute: attribute.URISAN, Match: policy.Match{Kind: kind, Value: caller}}
		}
		when := policy.And{policy.Or{who, policy.Not{Of: who}}, who}
		if flag(3) {
			when = append(when, policy.Is{Attribute: attribute.Path, Match: policy.Match{Kind: pathKind, Value: path}}, attribute.Method.Exact(method))
		}
		verdict := policy.Verdict{Effect: policy.Allow, Origin: origin}
		gate.Rules = []policy.Rule{{Verdict: verdict, When: who}, {Verdict: verdict, When: when}}
		if flag(4) {
			gate.Rules[0].Then = []policy.Rule{{Verdict: verdict, When: when}}
		}
		if flag(5) {
			gate.Default = verdict
		}
		p := policy.Program{Gates: []policy.Gate{gate}}
		if flag(6) {
			p.Shadows = p.Gates
		}
		filters, err := Compile(p)
		if err != nil {
			return
		}
		for _, m := range filters.Messages() {
			if err := messages.Validate(withStatPrefix(m)); err != nil {
				t.Fatalf("%v:\n%s", err, p)
			}
		}
	})
}
