package kri_test

import (
	"testing"

	"github.com/meshproof/meshproof/internal/kri"
)

// FuzzValidate feeds any fields: an accepted identifier is read back as it was, and a
// refused one has no text.
func FuzzValidate(f *testing.F) {
	f.Add("mtp", "default", "", "", "p", "")
	f.Add("dp", "m", "z", "n", "a", "rule_0_A")
	f.Add("dp", "m_z", "", "", "a", "8080")
	f.Add("", "_", "_", "_", "_", "_")
	f.Fuzz(func(t *testing.T, typ, mesh, zone, namespace, name, section string) {
		k := kri.KRI{Type: typ, Mesh: mesh, Zone: zone, Namespace: namespace, Name: name, Section: section}
		text, err := k.MarshalText()
		if refused := k.Validate(); (refused == nil) != (err == nil) {
			t.Fatalf("%+v: Validate says %v, MarshalText %v", k, refused, err)
		}
		if err != nil {
			return
		}
		if got, err := kri.Parse(string(text)); err != nil || got != k {
			t.Fatalf("%+v reads back as %+v, %v", k, got, err)
		}
	})
}
