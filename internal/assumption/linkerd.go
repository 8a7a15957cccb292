package assumption

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/fieldpath"
	"github.com/meshproof/meshproof/internal/fieldvalue"
)

// portsOfServer has the ports that a Server of Linkerd takes. Other kinds take none.
func portsOfServer(o clusterobject.Object) []string {
	if o.Kind != "Server" {
		return nil
	}
	spec := fieldvalue.Lookup(o.Fields, "spec")
	return []string{fmt.Sprint(o.Namespace, fieldvalue.Lookup(spec, "podSelector"), fieldvalue.Lookup(spec, "port"))}
}

// installation finds the settings of Linkerd that say what a policy means, in its ConfigMap and in the arguments of its control
// plane, and installed what they are by default.
var (
	installation = regexp.MustCompile(`(?:"?(defaultInboundPolicy|defaultPolicy|identityTrustDomain|clusterDomain|clusterNetworks)"?:\s*|-(default-policy|identity-domain|cluster-networks|control-plane-namespace)[= ])"?([^\s"]*)`)
	installed    = fieldpath.SetOf("all-unauthenticated cluster.local linkerd 10.0.0.0/8,100.64.0.0/10,172.16.0.0/12,192.168.0.0/16,fd00::/8")
)

func statesLinkerd(o clusterobject.Object, _ Options) string {
	states := func(text string) bool {
		return slices.ContainsFunc(installation.FindAllStringSubmatch(text, -1), func(found []string) bool { return found[3] != "" && !installed[strings.TrimSuffix(found[3], ",")] })
	}
	if o.Kind == "ConfigMap" && o.Name == "linkerd-config" {
		if text, _ := fieldvalue.Lookup(o.Fields, "data", "values").(string); states(text) {
			return "data.values"
		}
		return ""
	}
	for _, container := range o.Containers("containers") {
		if text := strings.Join(slices.Concat(fieldvalue.Texts(container["command"]), fieldvalue.Texts(container["args"])), " "); strings.Contains(clusterobject.ImageOf(container), "policy-controller") && states(text) {
			return o.PodPlace() + "spec.containers"
		}
	}
	return setsDefault(o, ofLinkerd)
}

// defaultInbound is the annotation that says who gets in at a port without a Server.
const defaultInbound = "config.linkerd.io/default-inbound-policy"

func statesDefaultInbound(o clusterobject.Object, _ Options) string {
	for _, head := range slices.Compact([]string{"metadata", o.PodPlace() + "metadata"}) {
		field := head + ".annotations"
		if value := fieldvalue.Lookup(o.Fields, append(strings.Split(field, "."), defaultInbound)...); value != nil && value != "all-unauthenticated" {
			return fieldpath.Child(field, defaultInbound)
		}
	}
	return setsDefault(o, inbound)
}
