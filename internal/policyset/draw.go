package policyset

import (
	"encoding/json"
	"fmt"
	"net/netip"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Draw returns the set of that number: a case without requests. Its policies are valid and
// written in one of the forms; without a form, in one of all forms. The same arguments give
// the same set.
func Draw(seed, number uint64, of ...Form) cases.Case {
	g := generator{chooser: random(seed, number)}
	return g.set(fmt.Sprintf("set %d of seed %d", number, seed), of)
}

// DrawFrom returns the set whose choices are the bytes, for a fuzzer that looks at coverage.
func DrawFrom(choices []byte) cases.Case {
	g := generator{chooser: ofBytes(choices)}
	return g.set("set of chosen bytes", nil)
}

// generator draws one set.
type generator struct {
	*chooser
	c cases.Case
	// legacy sets have tags, routes, and meshes for trust domains.
	legacy bool
	// options are the options by which the policies are read.
	options object
	// unused are the names that no policy has yet.
	unused []string
}

// object is a YAML mapping.
type object map[string]any

// resource is a policy. Its fields stand in the order in which people write them.
type resource struct {
	Type       string `json:"type,omitempty"`
	APIVersion string `json:"apiVersion,omitempty"`
	Kind       string `json:"kind,omitempty"`
	Mesh       string `json:"mesh,omitempty"`
	Name       string `json:"name,omitempty"`
	Labels     object `json:"labels,omitempty"`
	Metadata   object `json:"metadata,omitempty"`
	Spec       object `json:"spec"`
}

// set draws one set.
func (g *generator) set(name string, of []Form) cases.Case {
	if len(of) == 0 {
		of = usual
	}
	g.c = cases.Case{Name: name, Place: name, TrustDomains: []spiffeid.TrustDomain{ownDomain, otherDomain}}
	g.options = object{}
	g.unused = shuffled(g.chooser, policyNames)
	policies := g.policies(pick(g.chooser, of...))
	g.c.Options.TrustDomain = g.c.TrustDomains[0]
	if len(g.options) > 0 {
		g.c.Options.Document = documents(name, g.options)[0]
	}
	g.workloads()
	g.c.Policies = documents(name, policies...)
	return g.c
}

// option sets an option. It leaves out a default.
func (g *generator) option(key string, value, byDefault any) {
	if value != byDefault {
		g.options[key] = value
	}
}

// documents writes values as JSON, which is YAML, and reads them back.
func documents[T any](name string, values ...T) []manifest.Document {
	var out []manifest.Document
	for _, p := range values {
		text, err := json.Marshal(p)
		if err != nil {
			panic(fmt.Sprintf("policyset: %s: %v", name, err))
		}
		docs, err := manifest.Parse(name, text)
		if err != nil {
			panic(fmt.Sprintf("policyset: %s: %v in %s", name, err, text))
		}
		out = append(out, docs...)
	}
	return out
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
	for i, name := range names[:g.between(1, len(names))] {
		w := policy.Workload{
			Name: name, Namespace: pick(g.chooser, namespaces...), Mesh: "default",
			Labels: map[string]string{"app": name, "tier": pick(g.chooser, "front", "back")},
		}
		if g.oneIn(12) && !g.legacy {
			w.Mesh = "other"
		}
		if g.oneIn(4) {
			w.Zone, w.Origin = pick(g.chooser, zones...), "zone"
		}
		id, err := spiffeid.FromSegments(g.c.TrustDomains[0], "ns", w.Namespace, "sa", name)
		if err != nil {
			panic(fmt.Sprintf("policyset: %s: %v", name, err))
		}
		first := g.choose(len(ports))
		for k := range g.between(1, 2) {
			in := ports[(first+k)%len(ports)]
			in.Workload = w
			if g.legacy {
				in.Tags, in.Routes = g.tags(), g.routesOf(in.Protocol)
			}
			g.c.Inbounds = append(g.c.Inbounds, cases.Inbound{
				Inbound: in, Identity: id, IP: netip.AddrFrom4([4]byte{10, 64, 0, byte(i + 1)}), Permissive: g.oneIn(6),
			})
		}
	}
}
