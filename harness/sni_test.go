package harness

import (
	"fmt"
	"testing"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/classes"
	"github.com/meshproof/meshproof/xds"
	"github.com/meshproof/meshproof/xds/lift"
)

// TestServerName holds that a mesh reads the server name once a filter asks for it, and
// that the evidence has it.
func TestServerName(t *testing.T) {
	t.Parallel()
	spec := inbounds(t, allOf(policy.Allow))
	var strict []Inbound
	for _, in := range spec.Inbounds {
		if !in.MTLS.TakesPlaintext() {
			strict = append(strict, in)
		}
	}
	spec.Inbounds = strict
	m := sharedEnvoy.Get(t).Mesh(t, spec)
	svid := mint(t, m, frontend)
	ask := func(reads bool, sni string, want policy.Effect) {
		t.Helper()
		for _, in := range strict {
			batch, err := m.Send(t.Context(), Request{To: in.Name, Credential: svid, SNI: sni})
			if err != nil {
				t.Fatal(err)
			}
			e := batch.Evidence[0]
			found, err := e.Find()
			if err != nil || found.Verdict.Effect != want || e.ReadsSNI != reads {
				t.Errorf("%s, SNI %q: %v, %+v, reads server names: %t", in.Name, sni, err, found, e.ReadsSNI)
			}
			e.ReadsSNI = !reads
			if _, err := e.Find(); (err == nil) != (sni == "") {
				t.Errorf("%s, SNI %q: the evidence does not show who reads server names: %v", in.Name, sni, err)
			}
		}
	}
	ask(false, "a.example", policy.Allow)
	filters := map[string]xds.Filters{}
	for _, in := range strict {
		filters[in.Name] = compile(t, policy.Program{Gates: []policy.Gate{{Layer: in.Protocol.Layer(), Rules: []policy.Rule{
			{Verdict: policy.Verdict{Effect: policy.Allow, Origin: "named"}, When: attribute.SNI.Exact("a.example")},
		}, Default: policy.Verdict{Origin: byDefault}}}})
	}
	if err := m.SetFilters(t.Context(), filters); err != nil {
		t.Fatal(err)
	}
	ask(true, "a.example", policy.Allow)
	ask(true, "A.EXAMPLE", policy.Allow)
	ask(true, "a.example.evil", policy.Deny)
	ask(true, "", policy.Deny)
	batch, err := m.Send(t.Context(), Request{To: strict[0].Name, Plaintext: true})
	if err != nil {
		t.Fatal(err)
	}
	if found, err := batch.Evidence[0].Find(); err != nil || found.Form != evidence.HandshakeFailed {
		t.Errorf("plaintext: %+v, %v", found, err)
	}
}

// TestEnvoyServerNames asks Envoy for a request of each class of server names, and for its
// neighbours, by matches of each kind in each form of a gate and on both layers.
func TestEnvoyServerNames(t *testing.T) {
	t.Parallel()
	is := func(kind policy.MatchKind, value string, anyCase bool) policy.Condition {
		return policy.Is{Attribute: attribute.SNI, Match: policy.Match{Kind: kind, Value: value, AnyCase: anyCase}}
	}
	spec := MeshSpec{TrustDomains: []spiffeid.TrustDomain{domain}}
	var all []asked
	for _, form := range []policy.Form{policy.Ordered, policy.Named} {
		for _, protocol := range []policy.Protocol{policy.TCP, policy.HTTP} {
			for _, when := range []policy.Condition{
				is(policy.Exact, "a.example", false), is(policy.Exact, "A.Example", true), is(policy.Prefix, "a.", false), is(policy.Prefix, "A.", true),
				is(policy.Suffix, ".example", false), is(policy.Suffix, ".EXAMPLE", true), is(policy.Contains, ".b.", false), is(policy.Contains, "B", true),
				is(policy.Regex, `[a-c]+\.example`, false), is(policy.Regex, `.*`, false), is(policy.Regex, `(a\.example)?`, false), is(policy.Regex, `.+`, false),
				policy.Not{Condition: is(policy.Suffix, ".example", false)}, policy.Not{Condition: is(policy.Regex, `(a\.example)?`, false)},
			} {
				p := allowing(protocol.Layer(), form, when)
				in := Inbound{Name: fmt.Sprint(len(spec.Inbounds)), Identity: backend, Address: address(uint16(8000 + len(spec.Inbounds))), Protocol: protocol, Filters: compile(t, p)}
				spec.Inbounds = append(spec.Inbounds, in)
				if back, lost := lift.Program(in.Filters, 0); len(lost) > 0 {
					t.Errorf("%s is read back as %s, lost %q", when, back, lost)
				}
				for _, r := range classRequests(t, classes.Surface{Protocol: protocol, TrustDomains: []string{domain.Name()}}, p) {
					if len(r.URIs) == 1 {
						all = append(all, asked{p, r, Request{To: in.Name, SNI: r.SNI, Method: r.Method, Path: r.Path}})
					}
				}
			}
		}
	}
	holdAgainstEnvoy(t, sharedEnvoy.Get(t), spec, 200, all)
}
