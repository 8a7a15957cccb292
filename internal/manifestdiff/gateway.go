package manifestdiff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/fieldvalue"
)

// gatewayAPI is the group of the routes of Gateway API.
const gatewayAPI = "gateway.networking.k8s.io"

// idleOfRoute are the fields of a route of Gateway API by which a gateway chooses a destination, and changes neither the path, the
// host nor the headers of requests. The world is closed, as for a VirtualService.
var idleOfRoute = fields(`hostnames parentRefs[].group parentRefs[].kind parentRefs[].name parentRefs[].namespace parentRefs[].sectionName parentRefs[].port
	rules[].name rules[].matches rules[].timeouts rules[].retry rules[].sessionPersistence
	rules[].backendRefs[].group rules[].backendRefs[].kind rules[].backendRefs[].name rules[].backendRefs[].namespace rules[].backendRefs[].port rules[].backendRefs[].weight
	rules[].filters[].type rules[].filters[].requestRedirect rules[].filters[].responseHeaderModifier`)

// idleFilters are the kinds of filters that these fields belong to.
var idleFilters = fields(`RequestRedirect ResponseHeaderModifier`)

// isOfGateway reports whether an object is a route by which gateways choose the destination of requests, and do no more. A route of a
// Service or a Server says something to a mesh.
func (o object) isOfGateway() bool {
	if o.group != gatewayAPI || o.kind != "HTTPRoute" && o.kind != "GRPCRoute" {
		return false
	}
	parents := fieldvalue.Mappings(fieldvalue.Lookup(o.fields, "spec", "parentRefs"))
	isOther := func(ref map[string]any, group, kind string) bool {
		return ref["group"] != nil && ref["group"] != group || ref["kind"] != nil && ref["kind"] != kind
	}
	for _, rule := range fieldvalue.Mappings(fieldvalue.Lookup(o.fields, "spec", "rules")) {
		isFilter := func(filter map[string]any) bool { return !idleFilters[fmt.Sprint(filter["type"])] }
		isElsewhere := func(ref map[string]any) bool { return isOther(ref, "", "Service") }
		if slices.ContainsFunc(fieldvalue.Mappings(rule["backendRefs"]), isElsewhere) || slices.ContainsFunc(fieldvalue.Mappings(rule["filters"]), isFilter) {
			return false
		}
	}
	return len(parents) > 0 && !slices.ContainsFunc(parents, func(ref map[string]any) bool { return isOther(ref, gatewayAPI, "Gateway") }) &&
		isKnown("", fieldvalue.Lookup(o.fields, "spec"), idleOfRoute) && !o.instructsGateway()
}

// isKnown reports whether a table has all that a value says. A field may say something by being there, without content.
func isKnown(path string, value any, known map[string]bool) bool {
	if known[path] {
		return true
	}
	items, _ := value.([]any)
	for _, item := range items {
		if !isKnown(path+"[]", item, known) {
			return false
		}
	}
	mapping := asMapping(value)
	for key, field := range mapping {
		if !isKnown(joined(path, key), field, known) {
			return false
		}
	}
	return len(items)+len(mapping) > 0
}

// instructsGateway reports whether an annotation or a label may tell the controller of a gateway to do something else.
func (o object) instructsGateway() bool {
	for _, field := range []string{"labels", "annotations"} {
		settings, _ := fieldvalue.Lookup(o.fields, "metadata", field).(map[string]any)
		for key := range settings {
			if domainOf(key) != "" && !begins(key, harmlessAnnotations) {
				return true
			}
		}
	}
	return false
}

// attachesToRoutes reports whether a document beside the policies says something about single routes: requests that come by another
// route pass it. What Linkerd's policies say of routes is about those of its Servers.
func (o object) attachesToRoutes() bool {
	return fieldvalue.Any(o.fields, func(value any) bool {
		fields, _ := value.(map[string]any)
		return slices.ContainsFunc(append(fieldvalue.Mappings(fields["targetRefs"]), asMapping(fields["targetRef"])), func(ref map[string]any) bool {
			kind, _ := ref["kind"].(string)
			return strings.HasSuffix(kind, "Route")
		})
	})
}

// asMapping returns a value as a mapping, an empty one where it is none.
func asMapping(value any) map[string]any {
	fields, _ := value.(map[string]any)
	return fields
}
