package harness

import (
	"strings"
	"testing"

	"github.com/spiffe/go-spiffe/v2/spiffeid"
)

// A wrong specification is refused before Envoy is asked: this harness has no Envoy.
func TestMeshSpecsThatAreRefused(t *testing.T) {
	t.Parallel()
	one, two := Inbound{Name: "one", Address: address(1)}, Inbound{Name: "two", Address: address(2)}
	named, addressed, control, inItsPlace := two, two, one, one
	named.Name, addressed.Address, control.Name, inItsPlace.Address = one.Name, one.Address, controlName, controlAddress
	own := []spiffeid.TrustDomain{domain}
	for name, tt := range map[string]struct {
		spec MeshSpec
		want string
	}{
		"no trust domain":       {MeshSpec{Inbounds: []Inbound{one, two}}, "it trusts no trust domain"},
		"a name twice":          {MeshSpec{TrustDomains: own, Inbounds: []Inbound{one, named}}, `two inbounds are named "one"`},
		"an address twice":      {MeshSpec{TrustDomains: own, Inbounds: []Inbound{one, addressed}}, `inbounds "one" and "two" share the address 10.0.0.7:1`},
		"the control's name":    {MeshSpec{TrustDomains: own, Inbounds: []Inbound{control}}, "takes the place of the positive control"},
		"the control's address": {MeshSpec{TrustDomains: own, Inbounds: []Inbound{inItsPlace}}, "takes the place of the positive control"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := (&Harness{}).NewMesh(t.Context(), tt.spec)
			if err == nil || !strings.HasPrefix(err.Error(), "harness: mesh: ") || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

func TestSendToAnUnknownInbound(t *testing.T) {
	t.Parallel()
	m := shared(t).Mesh(t, MeshSpec{TrustDomains: []spiffeid.TrustDomain{domain}, Inbounds: []Inbound{{Name: "one", Identity: backend, Address: address(1)}}})
	for _, to := range []string{"two", "", controlName} {
		batch, err := m.Send(t.Context(), Request{To: "one", Credential: mint(t, m, frontend)}, Request{To: to})
		if err == nil || !strings.Contains(err.Error(), `it has ["one"]`) || batch.Evidence != nil {
			t.Errorf("to %q: %+v, %v; want an error that names the inbounds there are", to, batch, err)
		}
	}
}

// A batch without requests sends the positive control only.
func TestSendNothing(t *testing.T) {
	t.Parallel()
	m := shared(t).Mesh(t, MeshSpec{TrustDomains: []spiffeid.TrustDomain{domain}})
	batch, err := m.Send(t.Context())
	if err != nil || len(batch.Evidence) != 0 || len(batch.Counters) != 0 {
		t.Errorf("got %+v, %v", batch, err)
	}
}
