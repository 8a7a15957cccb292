package assumption

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/fieldpath"
	"github.com/meshproof/meshproof/internal/fieldvalue"
)

// endpointsOf has the endpoints about whose callers a policy of Cilium has rules.
func endpointsOf(o clusterobject.Object) []string { return ruledBy(o, "ingress", "ingressDeny") }

// callingOf is [endpointsOf] for the calls of endpoints.
func callingOf(o clusterobject.Object) []string { return ruledBy(o, "egress", "egressDeny") }

func bothWaysOf(o clusterobject.Object) []string { return slices.Concat(endpointsOf(o), callingOf(o)) }

// ruledBy has the endpoints that a policy of Cilium selects for rules in one of these fields.
func ruledBy(o clusterobject.Object, fields ...string) (out []string) {
	specs, _ := fieldvalue.Lookup(o.Fields, "specs").([]any)
	for _, spec := range append(slices.Clone(specs), fieldvalue.Lookup(o.Fields, "spec")) {
		if slices.ContainsFunc(fields, func(field string) bool { return fieldvalue.Lookup(spec, field) != nil }) {
			out = append(out, fmt.Sprint(fields[0], o.Namespace, fieldvalue.Lookup(spec, "endpointSelector")))
		}
	}
	return out
}

// enforcement are the settings of Cilium that say what a policy means, with their defaults.
var enforcement = map[string]string{
	"enable-policy": "default", "policy-audit-mode": "false", "cluster-name": "default", "policy-default-local-cluster": "true", "enable-l7-proxy": "true",
	"policy-cidr-match-mode": "", "labels": "", "allow-localhost": "auto", "enable-non-default-deny-policies": "true",
	"enable-cilium-network-policy": "true", "enable-cilium-clusterwide-network-policy": "true",
}

func statesEnforcement(o clusterobject.Object, _ Options) string {
	keys := slices.Sorted(maps.Keys(enforcement))
	if o.Kind == "ConfigMap" && o.Name == "cilium-config" {
		for _, key := range keys {
			if value := fieldvalue.Lookup(o.Fields, "data", key); value != nil && fmt.Sprint(value) != enforcement[key] {
				return fieldpath.Child("data", key)
			}
		}
	}
	if o.Kind == "CiliumNodeConfig" || o.Kind == "CiliumConfig" {
		return "spec" // the settings of some nodes, and those of an operator in names of its own
	}
	for _, container := range o.Containers("containers") {
		if !strings.Contains(clusterobject.ImageOf(container), "cilium") {
			continue
		}
		for _, text := range slices.Concat(fieldvalue.Texts(container["command"]), fieldvalue.Texts(container["args"])) {
			flag, value, _ := strings.Cut(strings.TrimLeft(text, "-"), "=")
			if usual, known := enforcement[flag]; known && value != usual {
				return o.PodPlace() + "spec.containers"
			}
		}
	}
	return setsDefault(o, ofCilium)
}

// closesEndpoints returns the field where a NetworkPolicy of Kubernetes, or a policy of the cluster, may close endpoints for others. Cilium enforces it
// beside its own policies.
func closesEndpoints(o clusterobject.Object, _ Options) string {
	return closesBeside(o, func(types []any) bool { return len(types) == 0 || slices.Contains(types, any("Ingress")) })
}

// closesCalls is [closesEndpoints] for the calls of endpoints.
func closesCalls(o clusterobject.Object, _ Options) string {
	return closesBeside(o, func(types []any) bool {
		return len(types) == 0 && fieldvalue.Lookup(o.Fields, "spec", "egress") != nil || slices.Contains(types, any("Egress"))
	})
}

// closesBeside returns the field where a policy that is none of Cilium may close endpoints; of a NetworkPolicy of Kubernetes, one of these types.
func closesBeside(o clusterobject.Object, isType func(types []any) bool) string {
	if o.Group == "policy.networking.k8s.io" {
		return "spec" // policies of the cluster, which go before others or behind them
	}
	if field := closesByValues(o); field != "" {
		return field
	}
	types, _ := fieldvalue.Lookup(o.Fields, "spec", "policyTypes").([]any)
	if o.Kind != "NetworkPolicy" || o.Group != "networking.k8s.io" || !isType(types) {
		return ""
	}
	return "spec"
}

// Settings by the names that charts and flags have for them, with their defaults.
var (
	closing  = map[string]string{"policyEnforcementMode": "default", "enable-policy": "default", "enablePolicy": "default"}
	ofCilium = map[string]string{
		"policyAuditMode": "false", "policy-audit-mode": "false", "policyCIDRMatchMode": "null", "policy-cidr-match-mode": "", "policy-default-local-cluster": "true",
		"l7Proxy": "true", "enable-l7-proxy": "true",
	}
	ofLinkerd = map[string]string{"identityTrustDomain": "cluster.local", "clusterDomain": "cluster.local", "clusterNetworks": "10.0.0.0/8"}
	inbound   = map[string]string{"defaultInboundPolicy": "all-unauthenticated", "default-inbound-policy": "all-unauthenticated"}
)
