// Package policyset draws sets of policies at random, as users write them: several policies
// of one dialect that select, overlap and hide each other, and the inbounds of one or two
// workloads.
//
// All names come from small alphabets whose members are alike (ns/a, ns/ab), because rules
// that never overlap test nothing. [Draw] makes a set of a seed and a number. [Ask] adds
// requests: for each inbound, some witnesses of request classes and their neighbours.
//
// The choices are those of package choice. Package renaming gives a set other names, package relation draws sets whose
// values have something to do with each other, and package update changes one part of a set. All three read and change
// policies by package tree.
//
// The package guarantees that its sets are valid and the same on every machine. It does not
// guarantee that its requests cover a set: they are a bounded sample. It runs nothing.
package policyset

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/mtls"
	"github.com/meshproof/meshproof/internal/policyset/choice"
	"github.com/meshproof/meshproof/internal/policyset/renaming"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Draw returns the set of that number: a case without requests. Its policies are valid and
// written in one of the forms; without a form, in one of all forms. The same arguments give
// the same set.
func Draw(seed, number uint64, of ...Form) cases.Case {
	g := generator{Chooser: choice.Random(seed, number)}
	return g.set(fmt.Sprintf("set %d of seed %d", number, seed), of)
}

// DrawFrom returns the set whose choices are the bytes, for a fuzzer that looks at coverage.
func DrawFrom(choices []byte) cases.Case {
	g := generator{Chooser: choice.OfBytes(choices)}
	return g.set("set of chosen bytes", nil)
}

// generator draws one set.
type generator struct {
	*choice.Chooser
	c cases.Case
	// legacy sets have tags, routes, and meshes for trust domains.
	legacy bool
	// byLabels is true where policies name callers by the labels of workloads.
	byLabels bool
	// modes is true where policies say which callers an inbound takes.
	modes bool
	// authentication is what the rules of Cilium demand of callers.
	authentication string
	// identityEnd is the end of the name that Linkerd gives a service account.
	identityEnd string
	// fit changes the policies so that they are valid beside the workloads; nil for nothing.
	fit func()
	// options change how the policies are read.
	options object
	// unused are the names that no policy has yet.
	unused []string
	// size is that of a set, see [DrawFresh].
	size size
}

// object is a YAML mapping.
type object map[string]any

// resource is a policy. Its fields have the usual order of a written policy.
type resource struct {
	Type       string   `json:"type,omitempty"`
	APIVersion string   `json:"apiVersion,omitempty"`
	Kind       string   `json:"kind,omitempty"`
	Mesh       string   `json:"mesh,omitempty"`
	Name       string   `json:"name,omitempty"`
	Labels     object   `json:"labels,omitempty"`
	Metadata   object   `json:"metadata,omitempty"`
	Spec       object   `json:"spec,omitzero"`
	Specs      []object `json:"specs,omitempty"`
}

// isKuma reports whether the policy is a MeshTrafficPermission.
func (r resource) isKuma() bool { return r.Kind+r.Type == "MeshTrafficPermission" }

// set draws one set.
func (g *generator) set(name string, of []Form) cases.Case {
	if len(of) == 0 {
		of = usual
	}
	g.c = cases.Case{Name: name, Place: name, TrustDomains: []spiffeid.TrustDomain{ownDomain, otherDomain}}
	g.options = object{}
	known := policyNames
	if g.size != usualSize {
		known = slices.Concat(policyNames, otherPolicyNames)
	}
	g.unused = choice.Shuffled(g.Chooser, known)
	policies := g.policies(choice.Pick(g.Chooser, of...))
	g.c.Options.TrustDomain = g.c.TrustDomains[0]
	if g.size != usualSize && policies[0].isKuma() && g.OneIn(3) {
		g.options["systemNamespace"] = "mesh-control"
		for _, p := range policies {
			if p.Metadata["namespace"] == "kuma-system" {
				p.Metadata["namespace"] = "mesh-control"
			}
		}
	}
	if len(g.options) > 0 {
		g.c.Options.Document = documents(name, g.options)[0]
	}
	g.workloads()
	if g.byLabels {
		g.callers()
	}
	if g.fit != nil {
		g.fit()
	}
	if g.size != usualSize {
		g.move(policies)
	}
	g.c.Policies = documents(name, policies...)
	return g.c
}

// option sets an option. It leaves out a default.
func (g *generator) option(key string, value, byDefault any) {
	if value != byDefault {
		g.options[key] = value
	}
}

// oddly chooses one of the usual items, seldom an odd one.
func oddly(c *choice.Chooser, usual, odd []string) string {
	if c.OneIn(8) {
		usual = odd
	}
	return choice.Pick(c, usual...)
}

// documents writes values as JSON, which is YAML, and reads them back.
func documents[T any](name string, values ...T) []manifest.Document {
	out, err := parseValues(name, values...)
	if err != nil {
		panic(fmt.Sprintf("policyset: %v", err))
	}
	return out
}

// parseValues reads values that may be no policies.
func parseValues[T any](name string, values ...T) (out []manifest.Document, err error) {
	for _, p := range values {
		text, err := json.Marshal(p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		docs, err := manifest.Parse(name, text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w in %s", name, err, text)
		}
		out = append(out, docs...)
	}
	return out, nil
}

// policyName returns a name that no other policy of the set has.
func (g *generator) policyName() string {
	name := g.unused[0]
	g.unused = g.unused[1:]
	return name
}

// ports are the inbounds that a workload may have. Name, port and protocol go together.
var ports = []policy.Inbound{
	{Name: "http-port", Port: 8080, Protocol: policy.HTTP},
	{Name: "tcp-port", Port: 5432, Protocol: policy.TCP},
	{Port: 8081, Protocol: policy.HTTP2},
	{Name: "grpc-port", Port: 9090, Protocol: policy.GRPC},
}

// workloads adds one or two workloads with one or two inbounds each.
func (g *generator) workloads() {
	known := names
	if g.size == large {
		known = append(slices.Clone(names), "db", "cart")
	}
	// Plaintext is where a compiler may be wrong and no class of callers shows it.
	permissive := 6
	if g.size != usualSize {
		permissive = 2
	}
	for i, name := range known[:g.Number(1, min(g.size.upTo(2), len(known)))] {
		w := policy.Workload{
			Name: name, Namespace: choice.Pick(g.Chooser, namespaces...), Mesh: "default",
			Labels: map[string]string{"app": name, "tier": choice.Pick(g.Chooser, "front", "back")},
		}
		if g.size != usualSize {
			g.adorn(&w)
		}
		if g.OneIn(12) && !g.legacy {
			w.Mesh = "other"
		}
		if g.OneIn(4) {
			w.Zone, w.Origin = choice.Pick(g.Chooser, zones...), "zone"
			if g.size != usualSize && g.OneIn(3) {
				w.Origin = "global"
			}
		}
		if g.byLabels {
			w.ServiceAccount = w.Name
		}
		id := renaming.IdentityOf(g.c.TrustDomains[0], w)
		peer := language.Peer{Workload: w, Identity: id, IP: addressOf(i)}
		g.c.Options.Peers = append(g.c.Options.Peers, peer)
		first := g.Choose(len(ports))
		for k := range g.Number(1, min(g.size.upTo(2), len(ports))) {
			in := ports[(first+k)%len(ports)]
			in.Workload = w
			if g.size != usualSize {
				g.vary(&in, k == 0)
			}
			if g.legacy {
				in.Tags, in.Routes = g.tags(), g.routesOf(in.Protocol)
			}
			mode := mtls.Unset
			if !g.modes && g.OneIn(permissive) {
				mode = mtls.Permissive
			}
			g.c.Inbounds = append(g.c.Inbounds, cases.Inbound{Inbound: in, Identity: id, IP: peer.IP, MTLS: mode})
		}
	}
}

// adorn gives a workload more labels, which policies may select by.
func (g *generator) adorn(w *policy.Workload) {
	few := g.OneIn(2)
	for _, label := range moreLabels {
		if !few && g.OneIn(2) {
			w.Labels[label.key] = choice.Pick(g.Chooser, label.values...)
		}
	}
	if g.OneIn(6) {
		w.Namespace = w.Name
	}
}

// moreLabels are labels beside those of [Draw].
var moreLabels = []struct {
	key    string
	values []string
}{
	{"team", []string{"checkout", "search"}}, {"version", []string{"v1", "v2"}}, {"track", []string{"", "canary"}},
	{"app.kubernetes.io/name", []string{"web", "api"}}, {"public", []string{"true", "false"}}, {"owner", []string{"A_1.2", "x"}},
}

// vary changes what an inbound is called and what it speaks, and gives it tags and routes. Only
// the first inbound of a workload may have its name.
func (g *generator) vary(in *policy.Inbound, first bool) {
	switch n := g.Choose(8); {
	case n < 2:
		in.Name = ""
	case n == 2 && first:
		in.Name = in.Workload.Name
	}
	if g.OneIn(3) {
		in.Protocol = choice.Pick(g.Chooser, policy.HTTP, policy.HTTP2, policy.GRPC, policy.TCP)
	}
	if g.OneIn(6) {
		in.Tags = g.tag()
	}
	if g.OneIn(4) {
		in.Routes = g.routesOf(in.Protocol)
	}
}

// addressOf returns the address of the workload at an index.
func addressOf(i int) netip.Addr { return netip.AddrFrom4([4]byte{10, 64, 0, byte(i + 1)}) }

// Form is a design of policies.
type Form uint8

// The forms. A number is the option of Kuma's design.
const (
	KumaOption1 Form = iota
	KumaOption2
	KumaOption3
	KumaFrom
	GatewayAPI
	Istio
	Cilium
	Linkerd
)

var formNames = [...]string{KumaOption1: "option1", KumaOption2: "option2", KumaOption3: "option3", KumaFrom: "from", GatewayAPI: "gateway", Istio: "istio", Cilium: "cilium", Linkerd: "linkerd"}

// FormNames are all forms in words, separated by "|".
var FormNames = strings.Join(formNames[:], "|")

// usual are the forms where none is asked for. The accepted design appears twice.
var usual = []Form{KumaOption1, KumaOption1, KumaOption2, KumaOption3, KumaFrom, GatewayAPI, Istio, Cilium, Linkerd}

// String returns one word.
func (f Form) String() string { return formNames[f] }

// UnmarshalText reads the word; an unknown one is an error that lists the known ones.
func (f *Form) UnmarshalText(text []byte) error {
	i := slices.Index(formNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("form %q is unknown: use one of %s", text, strings.Join(formNames[:], ", "))
	}
	*f = Form(i)
	return nil
}

// policies draws the policies of a set, and their options.
func (g *generator) policies(form Form) []resource {
	switch form {
	case KumaFrom:
		return g.legacyPolicies()
	case GatewayAPI:
		return g.gatewayPolicies()
	case Istio:
		return g.istioPolicies()
	case Cilium:
		return g.ciliumPolicies()
	case Linkerd:
		return g.linkerdPolicies()
	default:
		return g.kumaPolicies(form)
	}
}

// The names of all sets. They are few and alike, so that the rules of policies overlap and
// nearly overlap.
var (
	ownDomain   = spiffeid.RequireTrustDomainFromString("trust-domain.mesh")
	otherDomain = spiffeid.RequireTrustDomainFromString("other.mesh")
	// In the legacy form each mesh is a trust domain.
	legacyDomain      = spiffeid.RequireTrustDomainFromString("default")
	legacyOtherDomain = spiffeid.RequireTrustDomainFromString("other")

	identities = []string{
		"spiffe://trust-domain.mesh/ns/a/sa/x", "spiffe://trust-domain.mesh/ns/a/sa/y", "spiffe://trust-domain.mesh/ns/a/sa/xy",
		"spiffe://trust-domain.mesh/ns/ab/sa/x", "spiffe://trust-domain.mesh/ns/ab/sa/y", "spiffe://trust-domain.mesh/ns/b/sa/x",
		"spiffe://trust-domain.mesh/ns/b/sa/y", "spiffe://trust-domain.mesh/ns/default/sa/web", "spiffe://trust-domain.mesh/ns/default/sa/api",
		"spiffe://trust-domain.mesh/ns/a", "spiffe://other.mesh/ns/a/sa/x", "spiffe://other.mesh/ns/b/sa/x",
	}
	serverNames = []string{"web.example", "api.web.example", "web.example.evil"}
	prefixes    = []string{
		"spiffe://trust-domain.mesh", "spiffe://trust-domain.mesh/", "spiffe://trust-domain.mesh/ns/a", "spiffe://trust-domain.mesh/ns/a/",
		"spiffe://trust-domain.mesh/ns/ab/", "spiffe://trust-domain.mesh/ns/b/sa/", "spiffe://trust-domain.mesh/ns/a/sa/x",
		"spiffe://other.mesh/", "spiffe://trust", "spiffe://o",
	}
	paths   = []string{"/", "/a", "/a/", "/a/b", "/ab", "/a/b/c", "/b"}
	methods = []string{"GET", "HEAD", "POST", "DELETE"}

	// The odd names are legal, and a compiler may not expect them.
	oddIdentities = []string{
		"spiffe://trust-domain.mesh/x", "spiffe://trust-domain.mesh/A.b_C/x", "spiffe://trust-domain.mesh/ns/a/x", "spiffe://trust-domain.mesh/ns/a/sa/X",
		"spiffe://trust-domain.mesh/ns/a/sa/x/y", "spiffe://trust-domain.mesh/ns/a/sa/x/y/z", "spiffe://trust-domain.mesh/1/2/3/4/5/6/7/8/9",
		"spiffe://trust-domain.mesh/ns/a/sa/" + strings.Repeat("io-", 34) + "x", "spiffe://trust-domain.mesh/ns/a/sa/x.y_z",
	}
	oddServerNames = []string{"web", "a.b.c.d.web.example", strings.Repeat("a", 60) + ".example", "1.2.3.4"}
	oddPaths       = []string{"/a/b/c/d/e/f/g/", "/A", "/a.b", "/v1/users/2024", "/a;v=1,2", "/a%20b", "/~a", "/" + strings.Repeat("a", 300)}
	oddMethods     = []string{"PATCH", "PURGE", "M-SEARCH", "OPTIONS", "PROPFIND"}

	names      = []string{"web", "api"}
	namespaces = []string{"default", "a"}
	zones      = []string{"east", "west"}
	// policyNames are not in order, because the order of policies decides.
	policyNames      = []string{"p", "q", "pq", "a-p", "p-a", "z"}
	otherPolicyNames = []string{"a", "b", "p.q", "x.y.z", "a-b-c-d-e-f-x-y", "one", "two", "three", "four", "five", "six", "qp", "qq", "x", "x-y", "y", "yx", "zz", "z-p", "p-z", "c"}

	services = []string{"web", "api", "db"}
	routes   = []string{"orders", "items"}
)
