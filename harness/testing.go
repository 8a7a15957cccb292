package harness

import (
	"context"
	"testing"
)

// New starts a harness for a test, and closes it when the test and its subtests are over. The
// test fails if Envoy does not start.
func New(t testing.TB, opts ...Option) *Harness {
	t.Helper()
	h, err := Start(t.Context(), opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// Mesh makes a mesh for a test, and removes it when the test is over.
func (h *Harness) Mesh(t testing.TB, spec MeshSpec) *Mesh {
	t.Helper()
	m, err := h.NewMesh(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// The test's own context has ended by now.
		if err := m.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return m
}
