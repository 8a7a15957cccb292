package suite

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/result"
)

// A case states the labels of its workloads. Where the named files have a Deployment of that name with others, the policies may select the one and not the other: a note says so.
func TestOtherwiseDeployed(t *testing.T) {
	t.Parallel()
	const (
		policy = "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p, namespace: shop}, spec: {selector: {matchLabels: {app: web}}}}\n"
		pods   = "---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: {template: {metadata: {labels: {app: web, tier: front}}}}}\n"
		left   = "left out of the named files, not read: "
	)
	for name, tt := range map[string]struct {
		labels, files string
		want          []string
	}{
		"another value":     {"app: wbe, tier: front", policy + pods, []string{`the case states the label app="wbe" of shop/web, and Deployment shop/web of the named files has "web": the run is about the workload that the case states`, left + "1 Deployment"}},
		"a label more":      {"app: web, team: a", policy + pods, []string{`the case states the label team="a" of shop/web, and Deployment shop/web of the named files has none: the run is about the workload that the case states`, left + "1 Deployment"}},
		"a computed label":  {"app: web, k8s.kuma.io/namespace: shop", policy + pods, []string{left + "1 Deployment"}},
		"fewer labels":      {"app: web", policy + pods, []string{left + "1 Deployment"}},
		"no Deployment":     {"app: web", policy, nil},
		"labels by a chart": {"app: wbe", policy + pods + "---\n{apiVersion: kustomize.config.k8s.io/v1beta1, kind: Kustomization, commonLabels: {app: wbe}}\n", []string{left + "1 Deployment, 1 Kustomization"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for file, text := range map[string]string{
				"all.yaml":  tt.files,
				"case.yaml": "case: x\nworkloads: [{name: web, namespace: shop, labels: {" + tt.labels + "}, inbounds: [{port: 80, protocol: http}]}]\npolicies: {files: [all.yaml]}\nrequests: [{from: anonymous, to: web/80, want: handshake-failure}]\n",
			} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			all, err := cases.Load(filepath.Join(dir, "case.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			r := run{result: result.Case{Case: all[0]}}
			r.noteUnread()
			if !slices.Equal(r.result.Notes, tt.want) {
				t.Errorf("got %q, want %q", r.result.Notes, tt.want)
			}
		})
	}
}
