package renaming

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spiffe/go-spiffe/v2/spiffeid"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/feature"
	"github.com/meshproof/meshproof/internal/policyset/choice"
	"github.com/meshproof/meshproof/internal/policyset/tree"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Changes change a set beside its names; nil for nothing. The policies are values that were read from JSON.
type Changes struct {
	// Seed is the seed of the run, which says on which day it is made, see [Seed].
	Seed uint64
	// Names chooses some of the new names.
	Names func(to Names, c cases.Case, policies []any)
	// Policies alters the policies.
	Policies func(policies []any) []any
	// Set alters the policies and what stands beside them. The options are never nil.
	Set func(c *cases.Case, policies []any, options map[string]any) []any
}

// Rename returns the case with other names, ports, addresses and trust domains, and without its
// requests. The number says whose turn it is, see [Turns]. An error says that a policy has no JSON form.
func Rename(c cases.Case, r *rand.Rand, number uint64, change Changes) (cases.Case, error) {
	w := newWords(r)
	w.turn = turn(number)
	policies, options, err := tree.Values(c)
	if err != nil {
		return c, err
	}
	if _, stated := c.Options.Document.Lookup("systemNamespace"); stated {
		delete(w.kept, "kuma")
		delete(w.kept, "system")
	}
	of := func(profiles ...feature.Profile) bool {
		return slices.ContainsFunc(c.Policies, func(p manifest.Document) bool { return slices.Contains(profiles, tree.Profile(p)) })
	}
	w.short = of(feature.CiliumIngress, feature.LinkerdAuthz)
	if of(feature.LinkerdAuthz) {
		// The names of service accounts end in these.
		w.keep("serviceaccount", "identity", "linkerd", "cluster", "local")
		w.changed = Methods[:7] // Gateway API knows no others
	}
	// Service accounts stand for SPIFFE IDs of this form.
	if w.rarely() && !of(feature.GEP3779, feature.IstioAuthz, feature.LinkerdAuthz) {
		w.kept["ns"], w.kept["sa"] = false, false
	} else {
		w.keep("ns", "sa")
	}
	w.mayDeepen = !slices.ContainsFunc(c.Policies, namesSegments)
	w.rename(c)
	w.value("", policies)
	w.value("", options)
	w.lead(c, policies)
	w.choose()
	if change.Names != nil {
		change.Names(Names{w}, c, policies)
	}
	out := w.rename(c)
	policies, options = w.value("", policies).([]any), w.value("", options)
	if change.Policies != nil {
		policies = change.Policies(policies)
	}
	dress(choice.New(r.IntN), &out, policies, w.short, w.turn.hasNoPeers())
	w.turn.serve(&out, policies)
	if change.Set != nil {
		stated, _ := options.(map[string]any)
		if stated == nil {
			stated = map[string]any{}
		}
		policies, options = change.Set(&out, policies, stated), stated
	}
	profile := feature.Profile("")
	if len(c.Policies) > 0 {
		profile = tree.Profile(c.Policies[0])
	}
	policies = w.turn.list(&out, policies, options, profile, dayOf(change.Seed))
	file := letters(r, 1+r.IntN(8)) + ".yaml"
	out.Policies = nil
	for _, p := range policies {
		out.Policies = append(out.Policies, Document(r, file, p))
	}
	if fields, ok := options.(map[string]any); ok && len(fields) > 0 {
		out.Options.Document = Document(r, file, options)
	}
	return out, nil
}

// namesSegments reports whether a policy names a part of SPIFFE IDs: the service in one of the
// legacy form, or the service account.
func namesSegments(p manifest.Document) bool {
	profile := tree.Profile(p)
	names := profile == feature.IstioAuthz || profile == feature.LinkerdAuthz
	var v any
	if p.Decode(&v) == nil {
		tree.Visit("", v, func(key string, _ any) { names = names || key == "from" || key == "serviceAccount" })
	}
	return names
}

// HoldsNoName reports whether the value under a key is no name, wherever it stands.
func HoldsNoName(key string) bool { return noNames[key] }

// The values of these keys are no names, wherever they stand.
var noNames = map[string]bool{
	"apiVersion": true, "kind": true, "type": true, "action": true, "operator": true, "enforcementLevel": true, "group": true,
	"shadowForm": true, "legacyCompiler": true, "kumaOption": true, "status": true, "annotations": true,
	"kuma.io/policy-role": true, "kuma.io/origin": true, "kuma.io/effect": true,
	"uid": true, "resourceVersion": true, "creationTimestamp": true, "generation": true,
	"finalizers": true, "managedFields": true, "ownerReferences": true,
	"fromEntities": true, "toEntities": true, "fromCIDR": true, "toCIDR": true, "cidr": true, "except": true, "protocol": true, "mode": true, "mismatch": true,
	"policyEnforcement": true, "source": true, "family": true,
	"normalization": true, "service": true, "statusOnError": true,
	"proxyProtocol": true, "accessPolicy": true, "jwks": true, "defaultInboundPolicy": true, "clusterNetworks": true,
}

// grammar is what has a meaning in a regular expression and would not have it with other letters.
var grammar = regexp.MustCompile(`\\[A-Za-z0-9]|\[[^\]]|\(\?|\{`)

// value replaces the names in a value that stands under a key.
func (w *words) value(key string, v any) any {
	// The source of a label of Cilium is a word, and that of a rule of Istio has names.
	if _, isObject := v.(map[string]any); noNames[key] && !(key == "source" && isObject) {
		return v
	}
	switch v := v.(type) {
	case string:
		return w.string(key, v)
	case []any:
		return w.list(key, v)
	case map[string]any:
		return w.mapping(key, v)
	}
	if key == "port" || key == "ports" {
		var port uint16
		if _, err := fmt.Sscan(fmt.Sprint(v), &port); err == nil {
			return w.usualPort(port)
		}
	}
	return v
}

// mostTemplate is the length of the longest template of a path that Envoy takes.
const mostTemplate = 256

// string replaces the names in a text that stands under a key.
func (w *words) string(key, v string) string {
	if _, err := netip.ParsePrefix(v); err == nil {
		return v // the digits of a block are no words
	}
	switch key {
	case "method", "methods", "notMethods":
		return w.method(v)
	case "principals", "notPrincipals":
		// A principal is a SPIFFE ID without its scheme.
		return strings.TrimPrefix(w.text(tree.SPIFFEScheme+v), tree.SPIFFEScheme)
	case "ipBlocks", "remoteIpBlocks", "notIpBlocks", "notRemoteIpBlocks":
		return v
	case "trustDomains", "trustDomainAliases":
		return w.trustDomain(v)
	case "paths", "notPaths":
		if end, ok := strings.CutPrefix(v, "*"); ok {
			return "*" + w.text(end)
		}
		if renamed := w.text(v); len(renamed) <= mostTemplate || !strings.Contains(v, "{*") {
			return renamed
		}
		return v
	case "key":
		return w.label(v)
	case "path", "host":
		if grammar.MatchString(v) {
			return v
		}
		return w.text(v)
	case "port":
		return w.portName(v)
	case "name":
		// The name of a pseudo-header stays.
		if renamed := w.text(v); len(renamed) <= tree.MostName && !strings.HasPrefix(v, ":") {
			return renamed
		}
		return v
	default:
		return w.text(v)
	}
}

// list replaces the names in a list that stands under a key.
func (w *words) list(key string, v []any) []any {
	out := make([]any, len(v))
	for i := range v {
		if _, isObject := v[i].(map[string]any); isObject && tree.HoldsLabels(key) {
			out[i] = w.value("", v[i]) // Cilium writes the labels of a policy as a list
		} else {
			out[i] = w.value(key, v[i])
		}
	}
	return out
}

// mapping replaces the names in a mapping that stands under a key.
func (w *words) mapping(key string, v map[string]any) map[string]any {
	out := map[string]any{}
	for _, inner := range slices.Sorted(maps.Keys(v)) {
		value := w.member(key, v, inner)
		switch {
		case tree.HoldsLabels(key):
			inner = w.label(inner)
		case key == "portLevelMtls":
			inner = w.portName(inner)
		}
		out[inner] = value
	}
	return out
}

// member replaces the names in one value of a mapping that stands under a key.
func (w *words) member(key string, of map[string]any, inner string) any {
	meaning := inner
	if key == "namespaceLabels" {
		meaning = "labels"
	}
	if call, ok := of[inner].(string); ok && key == "method" && (inner == "service" || inner == "method") {
		return w.call(call)
	}
	value := w.value(meaning, of[inner])
	if _, isRange := of["endPort"]; isRange && (inner == "port" || inner == "endPort") {
		return of[inner] // the ends of a range keep their order
	}
	if annotations, ok := of[inner].(map[string]any); ok && key == "linkerd" && inner == "annotations" {
		return w.keys(annotations)
	}
	if expression, _ := of["value"].(string); inner == "value" && of["type"] == "RegularExpression" && grammar.MatchString(expression) {
		return expression
	}
	return value
}

// keys replaces the names that are the keys of a mapping: Linkerd's namespaces and workloads.
func (w *words) keys(of map[string]any) map[string]any {
	out := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(of)) {
		out[w.replace(w.names, key)] = of[key]
	}
	return out
}

// attributeKey is the key of a condition of Istio.
var attributeKey = regexp.MustCompile(`^(source|remote|destination|connection|request)\.`)

// givenLabel is a label that Cilium gives each endpoint, and ofNamespace what stands in front of
// a label of its namespace. Both may have a source in front.
var (
	givenLabel  = regexp.MustCompile(`(^|:)(io\.kubernetes\.pod\.namespace|io\.cilium\.k8s\.policy\..*|.*kubernetes\.io/metadata\.name)$|^reserved:`)
	ofNamespace = regexp.MustCompile(`^((k8s|any):)?(io\.cilium\.k8s\.namespace\.labels\.)?`)
)

// IsGivenLabel reports whether the key of a label is one that Cilium gives each endpoint.
func IsGivenLabel(key string) bool { return givenLabel.MatchString(key) }

// label replaces the key of a label. A control plane knows the labels of Kuma, the attributes of
// Istio's conditions, and what Cilium adds.
func (w *words) label(key string) string {
	if strings.Contains(key, "kuma.io/") || attributeKey.MatchString(key) || givenLabel.MatchString(key) {
		return key
	}
	prefix := ofNamespace.FindString(key)
	own := key[len(prefix):]
	renamed := w.replace(w.names, own)
	if w.short && len(renamed) > mostLabel {
		return key
	}
	return prefix + renamed
}

// mostLabel leaves room for Cilium's prefix of a label of a namespace: a key has at most 63 bytes.
const mostLabel = 30

// portName replaces a port in digits, or the name of one. Where Kubernetes would refuse the new
// name, the old one stays. So it does where the new name is the old one of another port, which may stay too.
func (w *words) portName(name string) string {
	if !w.chosen {
		w.portNames[name] = true
	}
	renamed := w.text(name)
	if _, err := strconv.Atoi(renamed); err == nil || !w.short || validation.IsValidPortName(strings.ToLower(renamed)) == nil && !w.portNames[renamed] {
		return renamed
	}
	return name
}

// rename replaces the names in a case, apart from its policies and options.
func (w *words) rename(c cases.Case) cases.Case {
	out := cases.Case{Name: c.Name, Story: c.Story, Features: c.Features, Place: c.Place, Options: c.Options, Normalization: c.Normalization}
	for _, td := range c.TrustDomains {
		out.TrustDomains = append(out.TrustDomains, spiffeid.RequireTrustDomainFromString(w.trustDomain(td.Name())))
	}
	if len(out.TrustDomains) > 0 {
		out.Options.TrustDomain = out.TrustDomains[0]
	}
	moved := map[netip.Addr]netip.Addr{}
	stay, choose := w.chosen && w.rarely(), choice.New(w.IntN)
	address := func(ip netip.Addr) netip.Addr {
		to, ok := moved[ip]
		for !ok {
			if to = ip; w.chosen && !stay {
				to = choose.Address()
			}
			ok = !slices.Contains(slices.Collect(maps.Values(moved)), to)
		}
		moved[ip] = to
		return to
	}
	out.Options.Peers = nil
	for _, peer := range c.Options.Peers {
		out.Options.Peers = append(out.Options.Peers, language.Peer{Workload: w.workload(peer.Workload), Identity: w.identity(peer.Identity), IP: address(peer.IP)})
	}
	for _, in := range c.Inbounds {
		in.Workload, in.Identity, in.IP = w.workload(in.Workload), w.identity(in.Identity), address(in.IP)
		in.Port = w.usualPort(in.Port)
		in.Name, in.Tags = w.portName(in.Name), w.labels(in.Tags)
		in.Routes = slices.Clone(in.Routes)
		for i, route := range in.Routes {
			in.Routes[i] = policy.InboundRoute{Name: w.replace(w.names, route.Name), When: w.condition(route.When)}
		}
		out.Inbounds = append(out.Inbounds, in)
	}
	return out
}
