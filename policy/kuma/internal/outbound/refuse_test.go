package outbound_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/golden"
	"github.com/meshproof/meshproof/policy/kuma/internal/outbound"
	"github.com/meshproof/meshproof/policy/manifest"
)

// TestRefusals holds each document of the archive that must be refused against the exact text
// of its error, which stands in the comment line above it.
func TestRefusals(t *testing.T) {
	t.Parallel()
	golden.Refusals(t, "refusals", func(t *testing.T, file, body string) string {
		docs, err := manifest.Parse("p.yaml", []byte(body))
		if err != nil {
			t.Fatalf("%s: not even YAML: %v", file, err)
		}
		r, err := outbound.Parse(docs, "kuma-system", outbound.Seed)
		if err == nil || r != nil {
			t.Fatalf("%s: not refused:\n%s", file, body)
		}
		if !errors.As(err, new(*manifest.Error)) {
			t.Errorf("error has no place: %v", err)
		}
		return strings.ReplaceAll(err.Error(), "\n", " and ")
	})
}

// TestMixedRoles takes what TestRefusals refuses where the role is stated, or is the system's.
func TestMixedRoles(t *testing.T) {
	t.Parallel()
	for _, head := range []string{
		"{type: MeshTimeout, name: x, ",
		"{apiVersion: kuma.io/v1alpha1, kind: MeshTimeout, metadata: {name: x, namespace: kuma-system}, ",
		"{apiVersion: kuma.io/v1alpha1, kind: MeshTimeout, metadata: {name: x, namespace: a, labels: {kuma.io/policy-role: consumer}}, ",
	} {
		docs, err := manifest.Parse("p.yaml", []byte(head+"spec: {to: [{targetRef: {kind: MeshService, name: own}, default: {idleTimeout: 1s}}, {targetRef: {kind: Mesh}, default: {idleTimeout: 1s}}]}}"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := outbound.Parse(docs, "kuma-system", outbound.Seed); err != nil {
			t.Errorf("%s: %v", head, err)
		}
	}
}
