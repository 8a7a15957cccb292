package clusterobject

import (
	"fmt"
	"maps"
	"slices"

	"github.com/meshproof/meshproof/internal/fieldpath"
	"github.com/meshproof/meshproof/internal/fieldvalue"
)

// gatewayTargets are the kinds that a policy of Istio may name in targetRefs, with their groups: gateways, and services behind a waypoint (validation.go in
// istio.io/istio/pkg/config/validation).
var gatewayTargets = map[string]string{"Gateway": gatewayAPI, "GatewayClass": gatewayAPI, "Service": "", "ServiceEntry": "networking.istio.io"}

// targetKeys are the keys of such a target.
var targetKeys = fieldpath.SetOf("kind group name namespace sectionName")

// IsForGateways reports whether an object is a policy of Istio that names gateways, or services with a waypoint, and no sidecar: no decision of a sidecar
// depends on it.
func (o Object) IsForGateways() bool {
	spec := fieldvalue.Mapping(fieldvalue.Lookup(o.Fields, "spec"))
	if o.Group != "security.istio.io" || o.Kind != "AuthorizationPolicy" && o.Kind != "RequestAuthentication" || spec["selector"] != nil || spec["targetRef"] != nil {
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

// gatewayAPI is the group of the routes of Gateway API.
const gatewayAPI = "gateway.networking.k8s.io"

// idleOfRoute are the fields of a route of Gateway API by which a gateway chooses a destination, and changes neither the path, the
// host nor the headers of requests. The world is closed, as for a VirtualService.
var idleOfRoute = fieldpath.SetOf(`hostnames parentRefs[].group parentRefs[].kind parentRefs[].name parentRefs[].namespace parentRefs[].sectionName parentRefs[].port
	rules[].name rules[].matches rules[].timeouts rules[].retry rules[].sessionPersistence
	rules[].backendRefs[].group rules[].backendRefs[].kind rules[].backendRefs[].name rules[].backendRefs[].namespace rules[].backendRefs[].port rules[].backendRefs[].weight
	rules[].filters[].type rules[].filters[].requestRedirect rules[].filters[].responseHeaderModifier`)

// idleFilters are the kinds of filters that these fields belong to.
var idleFilters = fieldpath.SetOf(`RequestRedirect ResponseHeaderModifier`)

// IsOfGateway reports whether an object is a route by which gateways choose the destination of requests, and do no more. A route of a
// Service or a Server says something to a mesh.
func (o Object) IsOfGateway() bool {
	if o.Group != gatewayAPI || o.Kind != "HTTPRoute" && o.Kind != "GRPCRoute" {
		return false
	}
	parents := fieldvalue.Mappings(fieldvalue.Lookup(o.Fields, "spec", "parentRefs"))
	isOther := func(ref map[string]any, group, kind string) bool {
		return ref["group"] != nil && ref["group"] != group || ref["kind"] != nil && ref["kind"] != kind
	}
	for _, rule := range fieldvalue.Mappings(fieldvalue.Lookup(o.Fields, "spec", "rules")) {
		isFilter := func(filter map[string]any) bool { return !idleFilters[fmt.Sprint(filter["type"])] }
		isElsewhere := func(ref map[string]any) bool { return isOther(ref, "", "Service") }
		if slices.ContainsFunc(fieldvalue.Mappings(rule["backendRefs"]), isElsewhere) || slices.ContainsFunc(fieldvalue.Mappings(rule["filters"]), isFilter) {
			return false
		}
	}
	return len(parents) > 0 && !slices.ContainsFunc(parents, func(ref map[string]any) bool { return isOther(ref, gatewayAPI, "Gateway") }) &&
		isKnown("", fieldvalue.Lookup(o.Fields, "spec"), idleOfRoute) && !o.instructsGateway()
}

// instructsGateway reports whether an annotation or a label may tell the controller of a gateway to do something else.
func (o Object) instructsGateway() bool {
	for _, field := range []string{"labels", "annotations"} {
		settings := fieldvalue.Mapping(fieldvalue.Lookup(o.Fields, "metadata", field))
		for key := range settings {
			if DomainOf(key) != "" && !IsIdleAnnotation(key) {
				return true
			}
		}
	}
	return false
}
