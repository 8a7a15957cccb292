package lab

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/meshproof/meshproof/internal/mtls"
	"github.com/meshproof/meshproof/policy"
)

// TestDefaultMTLS holds that files of policies have the mode of their mesh where nothing states
// one: those of Istio, Linkerd and Cilium take plaintext, Gateway API states no mode, and Kuma's callers need a certificate.
func TestDefaultMTLS(t *testing.T) {
	t.Parallel()
	const (
		authorization = "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: a}, spec: {rules: [{}]}}\n"
		strict        = "---\n{apiVersion: security.istio.io/v1, kind: PeerAuthentication, metadata: {name: a, namespace: istio-system}, spec: {mtls: {mode: STRICT}}}\n"
		linkerd       = "{apiVersion: policy.linkerd.io/v1beta3, kind: Server, metadata: {name: a}, spec: {podSelector: {}, port: 8080}}\n"
		cilium        = "{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: a}, spec: {endpointSelector: {}, ingress: [{}]}}\n"
		gateway       = "{apiVersion: gateway.networking.x-k8s.io/v1alpha1, kind: XAuthorizationPolicy, metadata: {name: a}, spec: {targetRefs: [{kind: Pod, selector: {}}], action: ALLOW, enforcementLevel: Network, rules: [{}]}}\n"
		kuma          = "{type: MeshTrafficPermission, mesh: default, name: a, spec: {default: {allow: [{path: {type: Prefix, value: /}}]}}}\n"
	)
	for name, tt := range map[string]struct {
		text         string
		made, judged mtls.Mode
	}{
		"Istio without a mode": {authorization, mtls.Permissive, mtls.Permissive},
		"Istio, strict":        {authorization + strict, mtls.Unset, mtls.Strict},
		"Linkerd":              {linkerd, mtls.Permissive, mtls.Permissive},
		"Cilium":               {cilium, mtls.Permissive, mtls.Permissive},
		"Gateway API":          {gateway, mtls.Unset, mtls.Unset},
		"Kuma":                 {kuma, mtls.Unset, mtls.Unset},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "a.yaml")
			if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			files, err := Open(Choice{}, file)
			if err != nil {
				t.Fatal(err)
			}
			around := Surroundings{Inbound: policy.Inbound{Workload: policy.Workload{Name: "backend", Namespace: "default"}, Port: 8080}}
			all, err := files.CasesFor(around, nil)
			if err != nil {
				t.Fatal(err)
			}
			subjects, err := files.Subjects("", around)
			if err != nil {
				t.Fatal(err)
			}
			if got := all[0].Inbounds[0].MTLS; got != tt.made {
				t.Errorf("it is made %s, want %s", got, tt.made)
			}
			if got := subjects[0].Set.Program(subjects[0].Inbound.Inbound).MTLS; tt.judged == mtls.Strict && got != tt.judged || tt.judged != mtls.Strict && subjects[0].Inbound.MTLS != tt.judged {
				t.Errorf("it is judged %s, want %s", subjects[0].Inbound.MTLS, tt.judged)
			}
		})
	}
}
