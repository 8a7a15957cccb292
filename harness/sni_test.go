package harness

import (
	"strings"
	"testing"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

func TestMeasureSNI(t *testing.T) {
	for _, v := range []string{"1.36.4", "1.40.0"} {
		h := own(t, WithEnvoy(v))
		prog := func(l policy.Layer) policy.Program {
			return policy.Program{Gates: []policy.Gate{{Layer: l, Default: policy.Verdict{Effect: policy.Deny, Origin: "default"}, Rules: []policy.Rule{
				{Verdict: policy.Verdict{Origin: "lower"}, When: attribute.SNI.Exact("a.com")},
				{Verdict: policy.Verdict{Origin: "upper"}, When: attribute.SNI.Exact("A.com")},
			}}}}
		}
		all := inbounds(t, prog)
		strict := all
		strict.Inbounds = []Inbound{all.Inbounds[0], all.Inbounds[6]}
		for name, spec := range map[string]MeshSpec{"strict": strict, "mixed": all} {
			mesh, err := h.NewMesh(t.Context(), spec)
			if err != nil {
				t.Fatal(err)
			}
			cred := mint(t, mesh, frontend)
			t.Log(name)
			for _, to := range []string{"http", "tcp"} {
				for _, sni := range []string{"", "a.com", "A.com", "a.com.", "b.com", "a com", "ä.com", "10.0.0.1", "[a.com]", "a_b.com", "*.com", strings.Repeat("a", 255), strings.Repeat("a", 256), "a\x00b", "\xff", "a.com%eth", "::1%eth"} {
					b, err := mesh.Send(t.Context(), Request{To: to, Credential: cred, SNI: sni})
					if err != nil {
						t.Log(v, to, sni, err)
						continue
					}
					e := b.Evidence[0]
					f, err := e.Find()
					t.Logf("%s %s %q: %s %v %v log=%q %q err=%v", v, to, sni, e.Answer, f.Form, f.Verdict, e.Log.SNI, e.Log.TransportFailure, err)
				}
			}
			_ = mesh.Close(t.Context())
		}
	}
}
