package manifestdiff

import (
	"maps"
	"slices"

	"github.com/meshproof/meshproof/internal/fieldvalue"
	"github.com/meshproof/meshproof/policy/manifest"
)

// gatewayTargets are the kinds that a policy of Istio may name in targetRefs, with their groups: gateways, and services behind a waypoint (validation.go in
// istio.io/istio/pkg/config/validation).
var gatewayTargets = map[string]string{"Gateway": gatewayAPI, "GatewayClass": gatewayAPI, "Service": "", "ServiceEntry": "networking.istio.io"}

// targetKeys are the keys of such a target.
var targetKeys = fields("kind group name namespace sectionName")

// IsForGateways reports whether a document is a policy of Istio that names gateways, or services with a waypoint, and no sidecar: no decision of a sidecar
// depends on it.
func IsForGateways(doc manifest.Document) bool {
	return objectOf(doc).isForGateways()
}

func (o object) isForGateways() bool {
	spec, _ := fieldvalue.Lookup(o.fields, "spec").(map[string]any)
	if o.group != "security.istio.io" || o.kind != "AuthorizationPolicy" && o.kind != "RequestAuthentication" || spec["selector"] != nil || spec["targetRef"] != nil {
		return false
	}
	list, _ := spec["targetRefs"].([]any)
	targets := fieldvalue.Mappings(spec["targetRefs"])
	return len(list) > 0 && len(targets) == len(list) && !slices.ContainsFunc(targets, func(target map[string]any) bool {
		kind, _ := target["kind"].(string)
		group, isText := target["group"].(string)
		name, _ := target["name"].(string)
		of, known := gatewayTargets[kind]
		isOther := slices.ContainsFunc(slices.Collect(maps.Keys(target)), func(key string) bool { return !targetKeys[key] })
		return !known || name == "" || target["group"] != nil && !isText || group != of || isOther
	})
}

// attachedPolicies returns those of some objects that are policies for gateways: they name callers, too.
func attachedPolicies(all []object) []object {
	return slices.DeleteFunc(slices.Clone(all), func(o object) bool { return !o.isForGateways() })
}
