package manifestdiff

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/fieldpath"
	"github.com/meshproof/meshproof/internal/fieldvalue"
	"github.com/meshproof/meshproof/policy/manifest"
)

// assumption is a setting of a mesh that decides with the policies who gets in, and that is not read: its default is taken.
type assumption struct {
	// mesh ends the API groups of the policies with which the setting decides.
	mesh string
	// states returns the field where an object states another value than the default, "" where it does not. What options
	// state is read.
	states func(o object, options options) string
	// says reports whether a text that is not read, such as a template, may state such a value; nil where none does.
	says func(text string, options options) bool
	// subjects has what of a policy the setting decides with: where it is as before, the setting is no matter.
	subjects func(o object) []string
	// say is what to do.
	say string
	// isLocal is true where an object decides in its own namespace alone.
	isLocal bool
}

var assumptions = []assumption{
	{mesh: "istio.io", states: statesMeshConfig, says: func(text string, options options) bool { return setsIn(text, ofIstio(options)) }, subjects: wholeOf, say: "state it by --istio"},
	{mesh: "cilium.io", states: statesEnforcement, says: setting(ofCilium), subjects: wholeOf, say: "the default is taken: review the change by hand"},
	{mesh: "cilium.io", states: closesEndpoints, says: closesIn, subjects: endpointsOf, say: sayOpen, isLocal: true},
	{mesh: "cilium.io", states: closesCalls, says: closesIn, subjects: callingOf, say: sayOpen, isLocal: true},
	{mesh: "cilium.io", states: func(o object, _ options) string { return o.sets(closing) }, says: setting(closing), subjects: bothWaysOf, say: sayOpen},
	{mesh: "linkerd.io", states: statesLinkerd, says: setting(ofLinkerd), subjects: wholeOf, say: "the defaults of an installation are taken: review the change by hand"},
	{mesh: "kuma.io", states: movesKuma, subjects: wholeOf, say: "state the namespace by --system-namespace"},
	{mesh: "linkerd.io", states: statesDefaultInbound, says: setting(inbound), subjects: portsOfServer, say: "all-unauthenticated is taken where no Server is: review by hand which ports have a Server now"},
	{mesh: "istio.io", states: carrying("security.istio.io"), says: carryingIn("security.istio.io"), subjects: wholeOf, say: sayCarried},
	{mesh: "cilium.io", states: carrying("cilium.io"), says: carryingIn("cilium.io"), subjects: bothWaysOf, say: sayCarried},
	{mesh: "linkerd.io", states: carrying("policy.linkerd.io"), says: carryingIn("policy.linkerd.io"), subjects: wholeOf, say: sayCarried},
	{mesh: "kuma.io", states: carrying("kuma.io"), says: carryingIn("kuma.io"), subjects: wholeOf, say: sayCarried},
}

const (
	sayOpen    = "an endpoint that no policy of Cilium selects is taken for open: review by hand which ones are selected now"
	sayCarried = "a policy stands in it: write out what is applied"
)

// wholeOf has all that a policy says.
func wholeOf(o object) []string { return []string{o.doc.Flow()} }

// endpointsOf has the endpoints about whose callers a policy of Cilium has rules.
func endpointsOf(o object) []string { return o.ruledBy("ingress", "ingressDeny") }

// callingOf is [endpointsOf] for the calls of endpoints.
func callingOf(o object) []string { return o.ruledBy("egress", "egressDeny") }

func bothWaysOf(o object) []string { return slices.Concat(endpointsOf(o), callingOf(o)) }

// ruledBy has the endpoints that a policy of Cilium selects for rules in one of these fields.
func (o object) ruledBy(fields ...string) (out []string) {
	specs, _ := fieldvalue.Lookup(o.fields, "specs").([]any)
	for _, spec := range append(slices.Clone(specs), fieldvalue.Lookup(o.fields, "spec")) {
		if slices.ContainsFunc(fields, func(field string) bool { return fieldvalue.Lookup(spec, field) != nil }) {
			out = append(out, fmt.Sprint(fields[0], o.namespace, fieldvalue.Lookup(spec, "endpointSelector")))
		}
	}
	return out
}

// portsOfServer has the ports that a Server of Linkerd takes. Other kinds take none.
func portsOfServer(o object) []string {
	if o.kind != "Server" {
		return nil
	}
	spec := fieldvalue.Lookup(o.fields, "spec")
	return []string{fmt.Sprint(o.namespace, fieldvalue.Lookup(spec, "podSelector"), fieldvalue.Lookup(spec, "port"))}
}

// options are what the options of both sides state.
type options []manifest.Document

func (all options) state(key string) bool {
	return !slices.ContainsFunc(all, func(one manifest.Document) bool { _, has := one.Lookup(key); return !has })
}

// meshConfig are the fields of a mesh config of Istio that say what a policy means, with the option that states each.
var meshConfig = map[string]string{
	"rootNamespace": "istio.rootNamespace", "trustDomain": "istio.trustDomain", "trustDomainAliases": "istio.trustDomainAliases",
	"pathNormalization": "istio.normalization", "extensionProviders": "istio.extensionProviders",
}

func statesMeshConfig(o object, options options) string {
	moved := !options.state(meshConfig["rootNamespace"]) // the root namespace is that of the control plane, unless the mesh config says otherwise
	unread := unstated(options)
	states := func(config any) bool {
		return slices.ContainsFunc(unread, func(key string) bool { return namesField(config, key) })
	}
	if o.isOfMeshConfig() {
		if moved && o.kind == "ServiceMeshControlPlane" { // it has names of its own for these settings, and its namespace is the root namespace
			return "spec"
		}
		if states(fieldvalue.Lookup(o.fields, "spec")) || moved && (o.isElsewhere() || o.installsElsewhere("istiod", "istio-system")) {
			return "spec"
		}
	}
	config := o.meshConfig()
	if moved && (o.runs("pilot") || o.isLabelled("app", "istiod") || o.kind == "ConfigMap" && config != nil && begins(o.name, []string{"istio"})) && o.namespace != "istio-system" {
		return "metadata.namespace"
	}
	if states(config) {
		return "data.mesh"
	}
	return o.sets(ofIstio(options))
}

// unstated returns the fields of a mesh config that no option states.
func unstated(options options) []string {
	return slices.DeleteFunc(slices.Collect(maps.Keys(meshConfig)), func(key string) bool { return options.state(meshConfig[key]) })
}

// ofIstio has the settings of Istio that no option states, with their defaults.
func ofIstio(options options) map[string]string {
	defaults := map[string]string{}
	for _, key := range unstated(options) {
		defaults[key] = ""
	}
	if !options.state(meshConfig["rootNamespace"]) {
		defaults["istioNamespace"] = "istio-system"
	}
	return defaults
}

// isOfMeshConfig reports whether an object is of a kind that nobody reads here, and that may have a mesh config of Istio: one of an
// operator, or of a tool that installs a chart.
func (o object) isOfMeshConfig() bool {
	return o.category == unknown && o.group != "" && podPlaces[o.kind] == ""
}

// isLabelled reports whether an object with pods has a label.
func (o object) isLabelled(key, value string) bool {
	return podPlaces[o.kind] != "" && fieldvalue.Lookup(o.fields, "metadata", "labels", key) == value
}

// meshConfig returns the mesh config of Istio that a ConfigMap has: its fields, its text where it cannot be read, nil where it has none.
func (o object) meshConfig() any {
	text, isText := fieldvalue.Lookup(o.fields, "data", "mesh").(string)
	if !isText {
		return nil
	}
	docs, err := manifest.Parse("mesh", []byte(text))
	if err != nil {
		return text
	}
	var all []any
	for _, doc := range docs {
		all = append(all, fieldvalue.Decode(doc))
	}
	return all
}

// namesField reports whether a value has a field, or a text that may have it, in the spelling of JSON or of protobuf.
func namesField(value any, field string) bool {
	plain := func(text string) string { return strings.ToLower(strings.ReplaceAll(text, "_", "")) }
	found := false
	eachText(value, func(text string) {
		found = found || plain(text) == plain(field) || strings.ContainsAny(text, "\n") && strings.Contains(plain(text), plain(field))
	})
	return found
}

// isElsewhere reports whether an operator puts the control plane of Istio into another namespace than istio-system.
func (o object) isElsewhere() bool {
	for _, field := range [][]string{{"spec", "namespace"}, {"spec", "values", "global", "istioNamespace"}, {"spec", "components", "base", "namespace"}, {"spec", "components", "pilot", "namespace"}} {
		if in := fieldvalue.Lookup(o.fields, field...); in != nil && in != "istio-system" {
			return true
		}
	}
	return o.kind == "IstioOperator" && o.written() != "" && o.namespace != "istio-system"
}

// runs reports whether the pods of an object have a container with one of these parts of an image.
func (o object) runs(images ...string) bool {
	return slices.ContainsFunc(o.containers("containers"), func(container map[string]any) bool { return has(imageOf(container), images) })
}

// enforcement are the settings of Cilium that say what a policy means, with their defaults.
var enforcement = map[string]string{
	"enable-policy": "default", "policy-audit-mode": "false", "cluster-name": "default", "policy-default-local-cluster": "true", "enable-l7-proxy": "true",
	"policy-cidr-match-mode": "", "labels": "", "allow-localhost": "auto", "enable-non-default-deny-policies": "true",
	"enable-cilium-network-policy": "true", "enable-cilium-clusterwide-network-policy": "true",
}

func statesEnforcement(o object, _ options) string {
	keys := slices.Sorted(maps.Keys(enforcement))
	if o.kind == "ConfigMap" && o.name == "cilium-config" {
		for _, key := range keys {
			if value := fieldvalue.Lookup(o.fields, "data", key); value != nil && fmt.Sprint(value) != enforcement[key] {
				return fieldpath.Child("data", key)
			}
		}
	}
	if o.kind == "CiliumNodeConfig" || o.kind == "CiliumConfig" {
		return "spec" // the settings of some nodes, and those of an operator in names of its own
	}
	for _, container := range o.containers("containers") {
		if !strings.Contains(imageOf(container), "cilium") {
			continue
		}
		for _, text := range slices.Concat(fieldvalue.Texts(container["command"]), fieldvalue.Texts(container["args"])) {
			flag, value, _ := strings.Cut(strings.TrimLeft(text, "-"), "=")
			if usual, known := enforcement[flag]; known && value != usual {
				return podPlaces[o.kind] + "spec.containers"
			}
		}
	}
	return o.sets(ofCilium)
}

// installation finds the settings of Linkerd that say what a policy means, in its ConfigMap and in the arguments of its control
// plane, and installed what they are by default.
var (
	installation = regexp.MustCompile(`(?:"?(defaultInboundPolicy|defaultPolicy|identityTrustDomain|clusterDomain|clusterNetworks)"?:\s*|-(default-policy|identity-domain|cluster-networks|control-plane-namespace)[= ])"?([^\s"]*)`)
	installed    = fields("all-unauthenticated cluster.local linkerd 10.0.0.0/8,100.64.0.0/10,172.16.0.0/12,192.168.0.0/16,fd00::/8")
)

func statesLinkerd(o object, _ options) string {
	states := func(text string) bool {
		return slices.ContainsFunc(installation.FindAllStringSubmatch(text, -1), func(found []string) bool { return found[3] != "" && !installed[strings.TrimSuffix(found[3], ",")] })
	}
	if o.kind == "ConfigMap" && o.name == "linkerd-config" {
		if text, _ := fieldvalue.Lookup(o.fields, "data", "values").(string); states(text) {
			return "data.values"
		}
		return ""
	}
	for _, container := range o.containers("containers") {
		if text := strings.Join(slices.Concat(fieldvalue.Texts(container["command"]), fieldvalue.Texts(container["args"])), " "); strings.Contains(imageOf(container), "policy-controller") && states(text) {
			return podPlaces[o.kind] + "spec.containers"
		}
	}
	return o.sets(ofLinkerd)
}

// movesKuma returns the field where a control plane of Kuma is in another namespace than the usual one, whose policies are
// those of the system.
func movesKuma(o object, options options) string {
	if !options.state("systemNamespace") && o.runs("/kuma-cp") && o.namespace != "kuma-system" {
		return "metadata.namespace"
	}
	return ""
}

// closesEndpoints returns the field where a NetworkPolicy of Kubernetes, or a policy of the cluster, may close endpoints for others. Cilium enforces it
// beside its own policies.
func closesEndpoints(o object, _ options) string {
	return o.closesBeside(func(types []any) bool { return len(types) == 0 || slices.Contains(types, any("Ingress")) })
}

// closesCalls is [closesEndpoints] for the calls of endpoints.
func closesCalls(o object, _ options) string {
	return o.closesBeside(func(types []any) bool {
		return len(types) == 0 && fieldvalue.Lookup(o.fields, "spec", "egress") != nil || slices.Contains(types, any("Egress"))
	})
}

// closesBeside returns the field where a policy that is none of Cilium may close endpoints; of a NetworkPolicy of Kubernetes, one of these types.
func (o object) closesBeside(isType func(types []any) bool) string {
	if o.group == "policy.networking.k8s.io" {
		return "spec" // policies of the cluster, which go before others or behind them
	}
	if field := o.closesByValues(); field != "" {
		return field
	}
	types, _ := fieldvalue.Lookup(o.fields, "spec", "policyTypes").([]any)
	if o.kind != "NetworkPolicy" || o.group != "networking.k8s.io" || !isType(types) {
		return ""
	}
	return "spec"
}

// defaultInbound is the annotation that says who gets in at a port without a Server.
const defaultInbound = "config.linkerd.io/default-inbound-policy"

func statesDefaultInbound(o object, _ options) string {
	for _, head := range slices.Compact([]string{"metadata", podPlaces[o.kind] + "metadata"}) {
		field := head + ".annotations"
		if value := fieldvalue.Lookup(o.fields, append(strings.Split(field, "."), defaultInbound)...); value != nil && value != "all-unauthenticated" {
			return fieldpath.Child(field, defaultInbound)
		}
	}
	return o.sets(inbound)
}

// compareAssumed names settings of a mesh of which another value is taken, where the policies with which they decide have
// changed.
func (c *comparison) compareAssumed(before, after objects) (out []Change) {
	stated := options{c.old.Options, c.recent.Options}
	add := func(place, object string, of assumption) {
		// Two assumptions may be about one field.
		if change := (Change{place, object, "is not read, and policies have changed: " + of.say}); !slices.Contains(out, change) {
			out = append(out, change)
		}
	}
	texts := c.unreadTexts()
	for _, of := range assumptions {
		touched := of.touched(before, after)
		if len(touched) == 0 {
			continue
		}
		for _, o := range slices.Concat(c.recentObjects.all, c.oldObjects.all) {
			if in := o.decidesIn(); of.isLocal && in != "" && !touched[in] && !touched[""] {
				continue
			}
			if field := of.states(o, stated); field != "" {
				add(o.doc.Place(field), o.String(), of)
			}
		}
		for _, text := range texts {
			if of.says != nil && of.says(text.says, stated) {
				add(text.name, "a file of which a tool may make manifests", of)
			}
		}
	}
	return out
}

// unread is a text that is not read, without its comments.
type unread struct{ name, says string }

// unreadTexts returns the texts of both sides that are not read. One that is as before is there once.
func (c *comparison) unreadTexts() (out []unread) {
	for _, name := range slices.Sorted(maps.Keys(c.recent.Texts)) {
		out = append(out, unread{name, withoutComments(c.recent.Texts[name])})
	}
	for _, name := range slices.Sorted(maps.Keys(c.old.Texts)) {
		if text := c.old.Texts[name]; text != c.recent.Texts[name] {
			out = append(out, unread{name, withoutComments(text)})
		}
	}
	return out
}

// touched returns the namespaces in which something has changed of what the setting decides with, "" where it may be any.
func (a assumption) touched(before, after objects) map[string]bool {
	texts := func(all objects) map[string]string {
		out := map[string]string{}
		for _, o := range all.all {
			if strings.HasSuffix(o.group, a.mesh) {
				for _, text := range a.subjects(o) {
					out[text] = o.written()
				}
			}
		}
		return out
	}
	olds, recents, out := texts(before), texts(after), map[string]bool{}
	add := func(all, others map[string]string) {
		for text, namespace := range all {
			if _, both := others[text]; !both {
				out[namespace] = true
			}
		}
	}
	add(recents, olds)
	add(olds, recents)
	return out
}
