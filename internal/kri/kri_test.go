package kri_test

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/internal/kri"
	"github.com/meshproof/meshproof/internal/property"
	"github.com/meshproof/meshproof/policy"
)

func TestString(t *testing.T) {
	t.Parallel()
	for want, k := range map[string]kri.KRI{
		"kri_mtp_default___by-mesh-operator_":                    {Type: kri.MeshTrafficPermission, Mesh: "default", Name: "by-mesh-operator"},
		"kri_mtp_default_zone-1_ns-1_mtp-1_":                     {Type: kri.MeshTrafficPermission, Mesh: "default", Zone: "zone-1", Namespace: "ns-1", Name: "mtp-1"},
		"kri_dp_mesh-1_us-east-2_kuma-demo_backend-app_8080":     {Type: kri.Dataplane, Mesh: "mesh-1", Zone: "us-east-2", Namespace: "kuma-demo", Name: "backend-app", Section: "8080"},
		"kri_dp_mesh-1_us-east-2_kuma-demo_backend-app_rule_0_a": {Type: kri.Dataplane, Mesh: "mesh-1", Zone: "us-east-2", Namespace: "kuma-demo", Name: "backend-app", Section: "rule_0_a"},
		"kri_mhttpr_default___route_rule_0":                      {Type: kri.MeshHTTPRoute, Mesh: "default", Name: "route", Section: "rule_0"},
		"kri_msvc_default_east_kuma-demo_backend_httpport":       {Type: kri.MeshService, Mesh: "default", Zone: "east", Namespace: "kuma-demo", Name: "backend", Section: "httpport"},
		"kri_m____default_":                                      {Type: kri.Mesh, Name: "default"},
	} {
		if got := k.String(); got != want {
			t.Errorf("String() = %s, want %s", got, want)
		}
		if got, err := kri.Parse(want); err != nil || got != k {
			t.Errorf("Parse(%s) = %+v, %v, want %+v", want, got, err, k)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	const form = ": want kri_<type>_<mesh>_<zone>_<namespace>_<name>_<section>"
	for s, want := range map[string]string{
		"":                      `kri: parse ""` + form,
		"kri_mtp_default___x":   `kri: parse "kri_mtp_default___x"` + form,
		"KRI_mtp_default___x_":  `kri: parse "KRI_mtp_default___x_"` + form,
		"kri_mtp______":         `kri: parse "kri_mtp______": name is empty`,
		"kri__default___x_":     `kri: parse "kri__default___x_": type "" is unknown: use one of dp, extsvc, m, mhttpr, msvc, mt, mtcpr, mtp, mzsvc`,
		"kri_mhpptr_d___x_":     `kri: parse "kri_mhpptr_d___x_": type "mhpptr" is unknown: use one of dp, extsvc, m, mhttpr, msvc, mt, mtcpr, mtp, mzsvc`,
		"kri_mtp_default___X_":  `kri: parse "kri_mtp_default___X_": name "X": use lower-case letters, digits, '-' and '.' only`,
		"kri_mtp_d e___x_":      `kri: parse "kri_mtp_d e___x_": mesh "d e": use lower-case letters, digits, '-' and '.' only`,
		"kri_dp_default___x_a/": `kri: parse "kri_dp_default___x_a/": section "a/": use letters, digits, '-', '.' and '_' only`,
	} {
		if _, err := kri.Parse(s); err == nil || err.Error() != want {
			t.Errorf("Parse(%q) = %v, want %s", s, err, want)
		}
	}
}

func TestUnderscoreIsRefusedBeforeItIsAmbiguous(t *testing.T) {
	t.Parallel()
	for field, k := range map[string]kri.KRI{
		"mesh":      {Type: "mtp", Mesh: "a_b", Name: "x"},
		"zone":      {Type: "mtp", Zone: "a_b", Name: "x"},
		"namespace": {Type: "mtp", Namespace: "a_b", Name: "x"},
		"name":      {Type: "mtp", Name: "a_b"},
	} {
		want := field + ` "a_b": use lower-case letters, digits, '-' and '.' only`
		if err := k.Validate(); err == nil || err.Error() != want {
			t.Errorf("Validate() = %v, want %s", err, want)
		}
		if _, err := k.MarshalText(); err == nil {
			t.Errorf("MarshalText() of %+v gives no error", k)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	property.Check(t, func(t *rapid.T) {
		field := rapid.StringMatching(`[a-z0-9.-]{0,5}`)
		k := kri.KRI{
			Type:      rapid.SampledFrom([]string{kri.MeshTrafficPermission, kri.Dataplane, kri.Mesh}).Draw(t, "type"),
			Mesh:      field.Draw(t, "mesh"),
			Zone:      field.Draw(t, "zone"),
			Namespace: field.Draw(t, "namespace"),
			Name:      rapid.StringMatching(`[a-z0-9.-]{1,5}`).Draw(t, "name"),
			Section:   rapid.StringMatching(`[A-Za-z0-9._-]{0,5}`).Draw(t, "section"),
		}
		text, err := json.Marshal(k)
		if err != nil {
			t.Fatal(err)
		}
		var got kri.KRI
		if err := json.Unmarshal(text, &got); err != nil || got != k {
			t.Fatalf("%s reads back as %+v, %v", text, got, err)
		}
	})
}

func TestInbound(t *testing.T) {
	t.Parallel()
	in := policy.Inbound{Workload: policy.Workload{Name: "backend", Namespace: "shop", Zone: "east"}, Port: 8080}
	if got, want := kri.Inbound(in).String(), "kri_dp_default_east_shop_backend_8080"; got != want {
		t.Errorf("unnamed inbound: %s, want %s", got, want)
	}
	in.Name, in.Workload.Mesh = "http-port", "prod"
	if got, want := kri.Inbound(in).String(), "kri_dp_prod_east_shop_backend_http-port"; got != want {
		t.Errorf("named inbound: %s, want %s", got, want)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"kri_mtp_default___a_", "kri_dp_m_z_n_a_rule_0", "kri_m____default_", "kri______", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if k, err := kri.Parse(s); err == nil && k.String() != s {
			t.Fatalf("Parse(%q).String() = %q", s, k)
		}
	})
}

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
