package dialect_test

import (
	"testing"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/dialect"
	"github.com/meshproof/meshproof/policy/language"
)

// TestEmptySetOfADialect: which callers the empty set lets in is up to its dialect.
func TestEmptySetOfADialect(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]policy.Effect{"": policy.Deny, "kuma": policy.Deny, "gateway": policy.Allow, "istio": policy.Allow, "cilium": policy.Allow, "linkerd": policy.Allow} {
		set := parse(t, "", language.Options{Dialect: name})
		for _, in := range inbounds() {
			program := set.Program(in)
			for _, r := range requests(in) {
				if got := policy.Decide(program.Program, r); got.Effect != want || got != set.Evaluate(in)(r) {
					t.Errorf("%q: %s: %+v: Decide says %+v, Evaluate %+v", name, in, r, got, set.Evaluate(in)(r))
				}
			}
		}
	}
	for yaml, want := range map[string]policy.Effect{"{istio: {rootNamespace: mesh}}": policy.Allow, "{kumaOption: 2}": policy.Deny, "{kumaOption: 2, istio: {rootNamespace: mesh}}": policy.Deny} {
		in := inbounds()[0]
		if got := policy.Decide(parse(t, "", options(t, yaml)).Program(in).Program, requests(in)[0]); got.Effect != want {
			t.Errorf("without policies, by the options %s: %s, want %s", yaml, got.Effect, want)
		}
	}
	const want = `policy/dialect: there is no dialect "istoi": use one of kuma, gateway, istio, cilium, linkerd`
	if _, err := dialect.Parse(nil, language.Options{Dialect: "istoi"}); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestParseRefusesOptions: with any policies, an option that no dialect has is refused.
func TestParseRefusesOptions(t *testing.T) {
	t.Parallel()
	for yaml, want := range map[string]string{
		"{shadow: precise}":               "p.yaml:1: shadow: unknown field: did you mean shadowForm?",
		"{kumaoption: 2}":                 "p.yaml:1: kumaoption: unknown field: did you mean kumaOption?",
		"{kumaOption: 4}":                 "p.yaml:1: kumaOption: kumaOption 4 is unknown: use 1, 2 or 3",
		"{calico: {mode: default}}":       "p.yaml:1: calico: no dialect has this option: only another compiler can read it",
		"{istio: {rootNamespaces: mesh}}": "p.yaml:1: istio.rootNamespaces: unknown field: did you mean rootNamespace?",
		"{shadowForm: exact}":             `p.yaml:1: shadowForm: shadowForm "exact" is unknown: use accepted or precise`,
	} {
		for _, policies := range []string{"", fixture, ofGateway} {
			if _, err := dialect.Parse(documents(t, policies), options(t, yaml)); err == nil || err.Error() != want {
				t.Errorf("%s: got %v, want %s", yaml, err, want)
			}
		}
	}
}
