package harness

import (
	"testing"

	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/xds"
)

// TestServerName holds that a mesh reads the server name once a filter asks for it, and
// that the evidence has it.
func TestServerName(t *testing.T) {
	t.Parallel()
	spec := inbounds(t, allOf(policy.Allow))
	var strict []Inbound
	for _, in := range spec.Inbounds {
		if in.MTLS == xds.Strict {
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
