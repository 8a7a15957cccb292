package lab_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/internal/lab"
)

// Each caller has each identity that its selectors allow, and its own one.
func TestAssignIdentities(t *testing.T) {
	t.Parallel()
	const selectors = "{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: p, namespace: shop}, spec: {endpointSelector: {}, ingress: [{fromEndpoints: [{matchLabels: {app: web}}, {matchLabels: {io.cilium.k8s.policy.serviceaccount: ledger}}]}]}}"
	callers := lab.MakeCallers(spiffeid.TrustDomain{}, parsed(t, selectors, ""))
	if n := len(callers.DropShared().Peers); n >= len(callers.Peers) {
		t.Errorf("%d of %d callers have an account of their own", n, len(callers.Peers))
	}
	var ids []spiffeid.ID
	for _, path := range []string{"/ns/shop/sa/evil", "/ns/shop/sa/ledger", "/ns/jobs/sa/evil", "/none"} {
		ids = append(ids, spiffeid.RequireFromString("spiffe://trust-domain.mesh"+path))
	}
	got := map[string][]string{}
	for _, list := range callers.AssignIdentities(ids) {
		var seen []string
		for _, peer := range list {
			path := peer.Identity.Path()
			if slices.Contains(seen, path) {
				t.Errorf("%s twice in a list", path)
			}
			seen = append(seen, path)
			got[peer.Workload.Name] = append(got[peer.Workload.Name], strings.TrimPrefix(path, "/ns/"))
		}
	}
	for name, want := range map[string]string{
		"workload":   "shop/sa/evil shop/sa/workload",
		"web":        "shop/sa/evil shop/sa/web",
		"ledger":     "shop/sa/ledger",
		"web-2":      "shop/sa/ledger",
		"workload-2": "default/sa/workload-2 jobs/sa/evil",
	} {
		slices.Sort(got[name])
		if text := strings.Join(got[name], " "); text != want {
			t.Errorf("%s: %q, want %q", name, text, want)
		}
	}
}
