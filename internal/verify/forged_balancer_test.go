package verify

import "testing"

// balanced gives the workload's cluster balancers, by their types and fields.
func balanced(types ...string) edit {
	list := ""
	for i := 0; i < len(types); i += 2 {
		if i > 0 {
			list += ", "
		}
		list += `{"typed_extension_config": ` + typed("b", "envoy.extensions.load_balancing_policies."+types[i], types[i+1]) + `}`
	}
	return clusters(having(ownCluster, `"load_balancing_policy": {"policies": [`+list+`]}`), redis)
}

// TestForgedBalancers reads dumps whose workload has a cluster with a balancer by extension. Envoy's own choose among its endpoints; others
// ask for a host that a header or metadata name, lead to other clusters, or ask endpoints by themselves.
func TestForgedBalancers(t *testing.T) {
	t.Parallel()
	const turns = "round_robin.v3.RoundRobin"
	for name, tt := range map[string]struct {
		want outcome
		edit edit
	}{
		"in turns":                      {verified, balanced(turns, "")},
		"in turns, slowly":              {verified, balanced(turns, `"slow_start_config": {"slow_start_window": "9s"}`)},
		"by the number of requests":     {verified, balanced("least_request.v3.LeastRequest", `"choice_count": 3`)},
		"by chance":                     {verified, balanced("random.v3.Random", "")},
		"by a ring":                     {verified, balanced("ring_hash.v3.RingHash", `"minimum_ring_size": 9`)},
		"by a table":                    {verified, balanced("maglev.v3.Maglev", "")},
		"by one of two":                 {verified, balanced("least_request.v3.LeastRequest", "", turns, "")},
		"by a new field":                {unverified, balanced(turns, `"leads": "x"`)},
		"by another one in front":       {unverified, balanced("override_host.v3.OverrideHost", "", turns, "")},
		"by another one behind":         {unverified, balanced(turns, "", "override_host.v3.OverrideHost", "")},
		"by what endpoints say":         {unverified, balanced("client_side_weighted_round_robin.v3.ClientSideWeightedRoundRobin", `"enable_oob_load_report": true`)},
		"by localities with another":    {unverified, balanced("wrr_locality.v3.WrrLocality", `"endpoint_picking_policy": {"policies": [{"typed_extension_config": `+typed("b", "envoy.extensions.load_balancing_policies.override_host.v3.OverrideHost", "")+`}]}`)},
		"by subsets":                    {unverified, balanced("subset.v3.Subset", "")},
		"by a module":                   {unverified, balanced("dynamic_modules.v3.DynamicModulesLoadBalancerConfig", "")},
		"by code of its own":            {unverified, clusters(having(ownCluster, `"load_balancing_policy": {"policies": [{"typed_extension_config": `+typed("envoy.load_balancing_policies.round_robin", "acme.Policy", "")+`}]}`), redis)},
		"in turns, without their type":  {unverified, clusters(having(ownCluster, `"load_balancing_policy": {"policies": [{"typed_extension_config": {"name": "envoy.load_balancing_policies.round_robin", "typed_config": {"@type": "T/google.protobuf.Struct", "value": {}}}}]}`), redis)},
		"to another machine beside":     {unverified, clusters(having(static("self_inbound_dp_http-port", "10.9.9.9", 8080), `"load_balancing_policy": {"policies": [{"typed_extension_config": `+typed("b", "envoy.extensions.load_balancing_policies."+turns, "")+`}]}`), redis)},
		"by the cluster, with a header": {unverified, clusters(having(ownCluster, `"original_dst_lb_config": {"use_http_header": true}, "load_balancing_policy": {"policies": [{"typed_extension_config": `+typed("b", "envoy.extensions.load_balancing_policies.cluster_provided.v3.ClusterProvided", "")+`}]}`), redis)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := matched(t, tt.edit)
			if got := outcomeOf(v); got != tt.want {
				t.Errorf("%s, want %s: %q, unknown %q", got, tt.want, lines(v.Unverified), lines(v.sidecar.Unknown))
			}
		})
	}
}
