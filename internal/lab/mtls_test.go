package lab

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/meshproof/meshproof/internal/mtls"
	"github.com/meshproof/meshproof/policy"
)

// TestDefaultMTLS holds that files of policies have the mode of their mesh where nothing states
// one: Istio's is permissive, and Kuma's callers need a certificate.
func TestDefaultMTLS(t *testing.T) {
	t.Parallel()
	const (
		authorization = "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: a}, spec: {rules: [{}]}}\n"
		strict        = "---\n{apiVersion: security.istio.io/v1, kind: PeerAuthentication, metadata: {name: a, namespace: istio-system}, spec: {mtls: {mode: STRICT}}}\n"
		kuma          = "{type: MeshTrafficPermission, mesh: default, name: a, spec: {default: {allow: [{path: {type: Prefix, value: /}}]}}}\n"
	)
	for name, tt := range map[string]struct {
		text         string
		made, judged mtls.Mode
	}{
		"Istio without a mode": {authorization, mtls.Permissive, mtls.Permissive},
		"Istio, strict":        {authorization + strict, mtls.Unset, mtls.Strict},
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
