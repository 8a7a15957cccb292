package manifestdiff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/fieldpath"
)

// assumption is a setting of a mesh that decides with the policies who gets in, and that is not read: its default is taken.
type assumption struct {
	// mesh ends the API groups of the policies with which the setting decides, dialect reads them.
	mesh, dialect string
	// states returns the field where an object states another value than the default, "" where it does not.
	states func(o object) string
	// subjects has what of a policy the setting decides with: where it is as before, the setting is no matter.
	subjects func(o object) []string
	// say is what to do.
	say string
}

var assumptions = []assumption{
	{"istio.io", "istio", statesMeshConfig, wholeOf, "state it by --istio"},
	{"cilium.io", "cilium", statesEnforcement, wholeOf, "the default is taken: review the change by hand"},
	{"cilium.io", "kubernetes", closesEndpoints, endpointsOf, "an endpoint that no policy of Cilium selects is taken for open: review by hand which ones are selected now"},
	{"linkerd.io", "linkerd", statesDefaultInbound, portsOfServer, "all-unauthenticated is taken where no Server is: review by hand which ports have a Server now"},
}

// wholeOf has all that a policy says.
func wholeOf(o object) []string { return []string{o.doc.Flow()} }

// endpointsOf has the endpoints that a policy of Cilium selects.
func endpointsOf(o object) (out []string) {
	specs, _ := fieldOf(o.fields, "specs").([]any)
	for _, spec := range append(specs, fieldOf(o.fields, "spec")) {
		out = append(out, fmt.Sprint(o.namespace, fieldOf(spec, "endpointSelector")))
	}
	return out
}

// portsOfServer has the ports that a Server of Linkerd takes. Other kinds take none.
func portsOfServer(o object) []string {
	if o.kind != "Server" {
		return nil
	}
	spec := fieldOf(o.fields, "spec")
	return []string{fmt.Sprint(o.namespace, fieldOf(spec, "podSelector"), fieldOf(spec, "port"))}
}

// meshConfig are the fields of a mesh config of Istio that say what a policy means.
var meshConfig = []string{"rootNamespace", "trustDomain", "trustDomainAliases", "pathNormalization", "extensionProviders"}

func statesMeshConfig(o object) string {
	if o.kind == "IstioOperator" || o.kind == "Istio" {
		config := fieldOf(o.fields, "spec", "meshConfig")
		if config == nil {
			config = fieldOf(o.fields, "spec", "values", "meshConfig")
		}
		settings, _ := config.(map[string]any)
		if slices.ContainsFunc(meshConfig, func(key string) bool { _, has := settings[key]; return has }) {
			return "spec"
		}
		return ""
	}
	text, _ := fieldOf(o.fields, "data", "mesh").(string)
	if slices.ContainsFunc(meshConfig, func(key string) bool { return strings.Contains(text, key+":") || strings.Contains(text, key+`"`) }) {
		return "data.mesh"
	}
	return ""
}

func statesEnforcement(o object) string {
	for key, usual := range map[string]string{"enable-policy": "default", "policy-audit-mode": "false"} {
		if value := fieldOf(o.fields, "data", key); o.kind == "ConfigMap" && o.name == "cilium-config" && value != nil && fmt.Sprint(value) != usual {
			return "data." + key
		}
	}
	return ""
}

// closesEndpoints returns the field where a NetworkPolicy of Kubernetes may close endpoints for others. Cilium enforces it
// beside its own policies.
func closesEndpoints(o object) string {
	types, _ := fieldOf(o.fields, "spec", "policyTypes").([]any)
	if o.kind != "NetworkPolicy" || o.group != "networking.k8s.io" || len(types) > 0 && !slices.Contains(types, any("Ingress")) {
		return ""
	}
	return "spec"
}

// defaultInbound is the annotation that says who gets in at a port without a Server.
const defaultInbound = "config.linkerd.io/default-inbound-policy"

func statesDefaultInbound(o object) string {
	for _, head := range slices.Compact([]string{"metadata", podPlaces[o.kind] + "metadata"}) {
		field := head + ".annotations"
		if value := fieldOf(o.fields, append(strings.Split(field, "."), defaultInbound)...); value != nil && value != "all-unauthenticated" {
			return fieldpath.Child(field, defaultInbound)
		}
	}
	return ""
}

// compareAssumed names settings of a mesh of which another value is taken, where the policies with which they decide have
// changed.
func (c *comparison) compareAssumed(before, after objects) (out []Change) {
	for _, of := range assumptions {
		if of.dialect == c.old.Stated && of.dialect == c.recent.Stated || !of.isTouched(before, after) {
			continue
		}
		for _, o := range slices.Concat(c.recentObjects.all, c.oldObjects.all) {
			if field := of.states(o); field != "" {
				out = append(out, Change{o.doc.Place(field), o.String(), "is not read, and policies have changed: " + of.say})
			}
		}
	}
	return out
}

// isTouched reports whether something has changed of what the setting decides with.
func (a assumption) isTouched(before, after objects) bool {
	texts := func(all objects) (out []string) {
		for _, o := range all.all {
			if strings.HasSuffix(o.group, a.mesh) {
				out = append(out, a.subjects(o)...)
			}
		}
		slices.Sort(out)
		return slices.Compact(out)
	}
	return !slices.Equal(texts(before), texts(after))
}
