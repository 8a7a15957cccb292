package metadata_test

import (
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/metadata"
	"github.com/meshproof/meshproof/policy/manifest"
)

// What an API server refuses has the field for which it does, and what a cluster gives has none.
func TestSettingsProblem(t *testing.T) {
	t.Parallel()
	const manager = "manager: kubectl, operation: Update, apiVersion: security.istio.io/v1, time: '2026-01-01T00:00:00Z', fieldsType: FieldsV1, fieldsV1: {'f:spec': {}}"
	for name, tt := range map[string]struct{ metadata, want string }{
		"a name":                {"name: p", ""},
		"as exported":           {"name: p, namespace: shop, uid: a-b, resourceVersion: '7', generation: 2, creationTimestamp: '2026-01-01T00:00:00Z', managedFields: [{" + manager + "}], ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: a, uid: b, controller: true}]", ""},
		"as kubectl makes it":   {"name: p, creationTimestamp: null, labels: {app.kubernetes.io/name: a}, annotations: {Example.com/Owner: a b}, finalizers: [example.com/a, orphan]", ""},
		"a time without quotes": {"name: p, creationTimestamp: 2026-01-01T00:00:00Z", ""},
		"a date":                {"name: p, creationTimestamp: 2026-01-01", "metadata.creationTimestamp"},
		"an operation":          {"name: p, managedFields: [{operation: Nope}]", "metadata.managedFields"},
		"a type of fields":      {"name: p, managedFields: [{operation: Apply, fieldsType: FieldsV2}]", "metadata.managedFields"},
		"a manager":             {"name: p, managedFields: [a]", "metadata.managedFields"},
		"a generation":          {"name: p, generation: 1.5", "metadata.generation"},
		"a period":              {"name: p, deletionGracePeriodSeconds: soon", "metadata.deletionGracePeriodSeconds"},
		"a number for a UID":    {"name: p, uid: 7", "metadata.uid"},
		"a number of a version": {"name: p, resourceVersion: 7", "metadata.resourceVersion"},
		"a link":                {"name: p, selfLink: 7", "metadata.selfLink"},
		"a name to make":        {"name: p, generateName: 7", "metadata.generateName"},
		"an owner":              {"name: p, ownerReferences: [{name: 7}]", "metadata.ownerReferences"},
		"a key":                 {"name: p, labels: {'a b': c}", `metadata.labels["a b"]`},
		"a value":               {"name: p, labels: {a: 'b c'}", "metadata.labels.a"},
		"an empty key":          {"name: p, labels: {'': b}", `metadata.labels[""]`},
		"a number for a label":  {"name: p, labels: {a: 7}", "metadata.labels"},
		"an annotation":         {"name: p, annotations: {'a b': c}", `metadata.annotations["a b"]`},
		"a finalizer":           {"name: p, finalizers: [a]", "metadata.finalizers[0]"},
		"annotations too large": {"name: p, annotations: {a: " + strings.Repeat("b", 256<<10) + "}", "metadata.annotations"},
	} {
		expectProblem(t, name, "apiVersion: security.istio.io/v1\nkind: AuthorizationPolicy\nmetadata: {"+tt.metadata+"}\n", tt.want)
	}
	expectProblem(t, "too large", "apiVersion: a/v1\nkind: A\nmetadata: {name: p}\nspec: {a: "+strings.Repeat("b", 1<<20)+"}\n", "metadata")
	expectProblem(t, "a status", "apiVersion: a/v1\nkind: A\nmetadata: {name: p}\nstatus: 5\n", "status")
	expectProblem(t, "no metadata", "apiVersion: a/v1\nkind: A\nmetadata: a\n", "metadata")
	for name, tt := range map[string]struct{ fields, want string }{
		"a name":          {"name: p.a-b, mesh: default, creationTime: '0001-01-01T00:00:00Z', labels: {kuma.io/origin: zone}", ""},
		"a hyphen first":  {"name: -p", "name"},
		"a dot last":      {"name: p.", "name"},
		"two dots":        {"name: a..b", "name"},
		"a long name":     {"name: " + strings.Repeat("a", 254), "name"},
		"a key":           {"name: p, labels: {'a b': c}", `labels["a b"]`},
		"a value":         {"name: p, labels: {team: 'a b'}", "labels.team"},
		"a long value":    {"name: p, labels: {team: " + strings.Repeat("a", 64) + "}", "labels.team"},
		"a time":          {"name: p, creationTime: soon", "creationTime"},
		"a number of one": {"name: p, modificationTime: 7", "modificationTime"},
	} {
		expectProblem(t, "universal: "+name, "{type: MeshTrafficPermission, "+tt.fields+"}\n", tt.want)
	}
}

func expectProblem(t *testing.T, name, text, want string) {
	t.Helper()
	docs, err := manifest.Parse("p.yaml", []byte(text))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if field, why := metadata.SettingsProblem(docs[0]); field != want || (why == "") != (want == "") {
		t.Errorf("%s: %s: %s, want %q", name, field, why, want)
	}
}
