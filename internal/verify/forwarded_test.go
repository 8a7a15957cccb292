package verify

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/sidecar"
	"github.com/meshproof/meshproof/policy"
)

// TestForwardedSidecar holds sidecars that trust x-forwarded-for against a policy that asks for
// the remote address. The lab trusts as many entries as the sidecar does.
func TestForwardedSidecar(t *testing.T) {
	t.Parallel()
	const office = `
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {name: office, namespace: shop}
spec: {rules: [{from: [{source: {remoteIpBlocks: [203.0.113.0/24]}}]}]}
`
	const xff = `"original_ip_detection_extensions": [{"name": "xff", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.http.original_ip_detection.xff.v3.XffConfig", %s}}]`
	for name, tt := range map[string]struct {
		manager, principal string
		hops               int
		want               outcome
		// unplayed is true where the lab cannot play the remote address.
		unplayed bool
	}{
		"no header":                  {`"use_remote_address": true`, "remote_ip", 0, verified, false},
		"two hops":                   {`"use_remote_address": true, "xff_num_trusted_hops": 2`, "remote_ip", 2, verified, false},
		"the last entry":             {`"use_remote_address": false`, "remote_ip", 1, verified, false},
		"behind one hop":             {`"xff_num_trusted_hops": 1`, "remote_ip", 2, verified, false},
		"an extension":               {fmt.Sprintf(xff, `"xff_num_trusted_hops": 2`), "remote_ip", 3, verified, false},
		"the peer for the remote":    {`"use_remote_address": true, "xff_num_trusted_hops": 1`, "direct_remote_ip", 1, differs, false},
		"the peer without a header":  {`"use_remote_address": true`, "direct_remote_ip", 0, verified, false},
		"trusted blocks":             {fmt.Sprintf(xff, `"xff_trusted_cidrs": {"cidrs": [{"address_prefix": "10.0.0.0", "prefix_len": 8}]}`), "remote_ip", 1, unverified, true},
		"more hops than the lab has": {`"use_remote_address": true, "xff_num_trusted_hops": 99`, "remote_ip", 0, unverified, true},
		"a custom header":            {`"original_ip_detection_extensions": [{"name": "x", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.http.original_ip_detection.custom_header.v3.CustomHeaderConfig", "header_name": "x-ip"}}]`, "remote_ip", 1, unverified, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, err := sidecar.Dump([]byte(forwardedDump(tt.manager, tt.principal)))
			if err != nil {
				t.Fatal(err)
			}
			if len(found.Inbounds) != 1 || found.Inbounds[0].TrustedHops != tt.hops {
				t.Fatalf("got %+v, want one inbound with %d hops", found.Inbounds, tt.hops)
			}
			var reasons []string
			for _, u := range found.UnknownOf(found.Inbounds[0]) {
				if text := u.String(); strings.Contains(text, "remote address") || strings.Contains(text, "xff_trusted_cidrs") || strings.Contains(text, "original_ip_detection") {
					reasons = append(reasons, text)
				}
			}
			if (len(reasons) > 0) != tt.unplayed {
				t.Errorf("told: %q, want %t", reasons, tt.unplayed)
			}
			read := files(t, office)
			described := policy.Inbound{Workload: policy.Workload{Name: "backend", Namespace: "shop"}, Port: 8080, Protocol: policy.HTTP}
			all, err := read.CasesFor(lab.Surroundings{Inbound: described}, read.Inbounds())
			if err != nil {
				t.Fatal(err)
			}
			v, err := Match(t.Context(), all, read, false, "", nil, found)
			if err != nil || len(v.Replays) != 1 {
				t.Fatalf("%v: %+v", err, v)
			}
			// A sidecar of Istio trusts the last entry, unless a case states another number.
			told := slices.ContainsFunc(lines(v.Unverified), func(line string) bool { return strings.Contains(line, "entries of x-forwarded-for, not 1") })
			if told != (tt.hops != 1) {
				t.Errorf("told: %t, with %d hops: %q", told, tt.hops, lines(v.Unverified))
			}
			// No chain demands mTLS, so only the decisions say more.
			if v.Unverified = nil; !tt.unplayed && outcomeOf(v) != tt.want {
				t.Errorf("got %s, want %s", outcomeOf(v), tt.want)
			}
			forged := false
			for _, asked := range v.Replays[0].Proof.Asked() {
				forged = forged || asked.Seen.Remote.IsValid() && asked.Seen.Remote != asked.Seen.Source
			}
			if forged != (tt.hops > 0) {
				t.Errorf("asked with an address in the header: %t, want %t", forged, tt.hops > 0)
			}
		})
	}
}

func forwardedDump(manager, principal string) string {
	return `{"name": "inbound", "traffic_direction": "INBOUND", "address": {"socket_address": {"address": "10.0.0.7", "port_value": 8080}}, "filter_chains": [{"filters": [
	{"name": "http", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", "stat_prefix": "in", ` + manager + `,
	"route_config": {"virtual_hosts": [{"name": "all", "domains": ["*"], "routes": [{"match": {"prefix": "/"}, "route": {"cluster": "app"}}]}]},
	"http_filters": [
		{"name": "envoy.filters.http.rbac", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC", "rules": {"policies": {"ns[shop]-policy[office]-rule[0]": {
			"permissions": [{"any": true}], "principals": [{"` + principal + `": {"address_prefix": "203.0.113.0", "prefix_len": 24}}]}}}}},
		{"name": "router", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}}]}}]}]}`
}
