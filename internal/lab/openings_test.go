package lab_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/policy"
)

// A Dataplane whose sidecar takes requests on a port without policies has a warning.
func TestWarnsOfFurtherPorts(t *testing.T) {
	t.Parallel()
	const plane = "networking: {address: 10.0.0.2, inbound: [{name: h, port: 8080, tags: {kuma.io/service: b, kuma.io/protocol: http}}]}"
	for name, tt := range map[string]struct{ text, warned string }{
		"none":                  {"type: Dataplane\nmesh: default\nname: b\n" + plane, ""},
		"probes":                {"type: Dataplane\nmesh: default\nname: b\nprobes: {port: 9000}\n" + plane, "a.yaml:1: kri_dp_default___b_: its sidecar takes requests on further ports, which no policy judges and the lab does not play (probes: {port: 9000})"},
		"an ignored inbound":    {"type: Dataplane\nmesh: default\nname: b\n" + strings.Replace(plane, "port: 8080", "port: 8080, state: Ignored", 1), "(inbound h: {state: Ignored})"},
		"an inbound not ready":  {"type: Dataplane\nmesh: default\nname: b\n" + strings.Replace(plane, "port: 8080", "port: 8080, state: NotReady", 1), ""},
		"metrics in Kubernetes": {"apiVersion: kuma.io/v1alpha1\nkind: Dataplane\nmetadata: {name: b, namespace: 'n'}\nspec:\n  metrics: {type: prometheus}\n  " + plane, "(metrics: {type: prometheus})"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "a.yaml")
			text := tt.text + "\n---\n{type: MeshTrafficPermission, mesh: default, name: p, spec: {default: {allow: [{spiffeId: {type: Exact, value: spiffe://trust-domain.mesh/a}}]}}}\n"
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			files, err := lab.Open(lab.Choice{}, path)
			if err != nil {
				t.Fatal(err)
			}
			_, population, err := files.CasesInFull(lab.Surroundings{Inbound: policy.Inbound{Workload: policy.Workload{Name: "web", Mesh: "default"}, Port: 8080}})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(population.Warnings, "\n"); !strings.Contains(got, tt.warned) || tt.warned == "" && got != "" {
				t.Errorf("want %q, got %q", tt.warned, got)
			}
		})
	}
}
