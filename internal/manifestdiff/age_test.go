package manifestdiff_test

import (
	"fmt"
	"testing"
)

// Of two PeerAuthentications that are about one workload, the older one counts. What a new one says of its age is no age.
func TestModesOfIstio(t *testing.T) {
	t.Parallel()
	mode := func(name, created, selector, mode string) string {
		if created != "" {
			created = ", creationTimestamp: " + created
		}
		return fmt.Sprintf("---\n{apiVersion: security.istio.io/v1, kind: PeerAuthentication, metadata: {name: %s, namespace: istio-system%s}, spec: {%smtls: {mode: %s}}}\n", name, created, selector, mode)
	}
	const older, younger = "2025-01-01T00:00:00Z", "2026-01-01T00:00:00Z"
	const web, api = "selector: {matchLabels: {app: web}}, ", "selector: {matchLabels: {app: api}}, "
	const isNew, turned = "is new, and the younger one whatever its file says", "is older or younger than"
	for _, tt := range []struct {
		change
		want string
	}{
		{change{"a new one that says it is older", "", mode("a", younger, "", "STRICT"), mode("a", younger, "", "PERMISSIVE") + mode("b", older, "", "STRICT")}, isNew},
		{change{"a new one without an age", "", mode("a", younger, "", "STRICT"), mode("a", younger, "", "PERMISSIVE") + mode("b", "", "", "STRICT")}, isNew},
		{change{"a new one whose name is first", "", mode("b", "", "", "STRICT"), mode("b", "", "", "PERMISSIVE") + mode("a", "", "", "STRICT")}, isNew},
		{change{"a younger one", "", mode("a", older, "", "STRICT"), mode("a", older, "", "STRICT") + mode("b", younger, "", "PERMISSIVE")}, ""},
		{change{"one of other workloads", "", mode("b", "", web, "STRICT"), mode("b", "", web, "STRICT") + mode("a", "", api, "STRICT")}, ""},
		{change{"one of another level", "", mode("b", "", "", "STRICT"), mode("b", "", "", "STRICT") + mode("a", "", api, "STRICT")}, ""},
		{change{"two new ones", "", "", mode("a", "", web, "STRICT") + mode("b", "", web, "PERMISSIVE")}, "no file says which one counts"},
		{change{"two ages that are exchanged", "", mode("a", older, "", "STRICT") + mode("b", younger, "", "PERMISSIVE"), mode("a", younger, "", "STRICT") + mode("b", older, "", "PERMISSIVE")}, turned},
		{change{"an age that is gone", "", mode("a", older, "", "STRICT") + mode("b", younger, "", "PERMISSIVE"), mode("a", older, "", "STRICT") + mode("b", "", "", "PERMISSIVE")}, turned},
		{change{"one age in another zone", "", mode("a", "2025-01-01T01:00:00+01:00", "", "STRICT") + mode("b", younger, "", "STRICT"), mode("a", older, "", "STRICT") + mode("b", younger, "", "STRICT")}, ""},
	} {
		tt.expect(t, tt.want)
	}
}
