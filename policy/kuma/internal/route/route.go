// Package route reads MeshHTTPRoute and MeshTCPRoute: which requests to a destination go to
// which backends.
//
// It guarantees that a match means what it says, that a route has at least one item, and
// that a refusal names file, line and field. It refuses filters, and a targetRef of a
// gateway: they are not proven. Which route a request takes is the business of package
// outbound.
package route

import (
	"fmt"

	"github.com/meshproof/meshproof/internal/kri"
	"github.com/meshproof/meshproof/policy/kuma/internal/destination"
	"github.com/meshproof/meshproof/policy/kuma/internal/reference"
	"github.com/meshproof/meshproof/policy/kuma/internal/resource"
	"github.com/meshproof/meshproof/policy/kuma/internal/target"
	"github.com/meshproof/meshproof/policy/manifest"
)

// The kinds of routes.
var (
	MeshHTTPRoute = resource.Kind{Name: "MeshHTTPRoute", Type: kri.MeshHTTPRoute}
	MeshTCPRoute  = resource.Kind{Name: "MeshTCPRoute", Type: kri.MeshTCPRoute}
)

// Route is a valid route. It is immutable; [Parse] makes it.
type Route struct {
	resource.Resource
	Kind   resource.Kind
	Target target.Target
	// Role is one of [resource.Roles]: as the label states, or as a control plane would
	// compute it. Overwritten says that a control plane writes another role over it.
	Role, Overwritten string
	To                []Item
}

// Item is what a route says about some destinations.
type Item struct {
	Ref   reference.Ref
	Rules []Rule
}

// Rule sends the requests that one of its matches takes to its backends.
type Rule struct {
	// Field is the path of the rule in the document.
	Field string
	// ID is the identifier of the route with the number of the rule as its section.
	ID kri.KRI
	// Matches are those of a MeshHTTPRoute, at least one. A rule of a MeshTCPRoute has none.
	Matches []Match
	// Backends are nil where the rule states none: then those of a weaker rule with the same matches count. Where
	// there are none at all, requests go to the destination.
	Backends []Backend
}

// Backend is where a rule sends a share of its requests.
type Backend struct {
	Ref    reference.Ref
	Port   uint16
	Weight uint32
}

// Owns reports whether a document is a route.
func Owns(doc manifest.Document) bool { return MeshHTTPRoute.Owns(doc) || MeshTCPRoute.Owns(doc) }

// ParseAll parses each document as [resource.ParseAll] does.
func ParseAll(docs []manifest.Document, systemNamespace string) ([]Route, error) {
	parse := func(doc manifest.Document) (Route, error) { return Parse(doc, systemNamespace) }
	return resource.ParseAll(docs, parse, func(r *Route) resource.Resource { return r.Resource })
}

type specSchema[Rule any] struct {
	TargetRef *target.Ref `yaml:"targetRef"`
	To        []struct {
		TargetRef reference.Schema `yaml:"targetRef"`
		Rules     []Rule           `yaml:"rules"`
	} `yaml:"to"`
}

type httpRuleSchema struct {
	Matches []matchSchema `yaml:"matches"`
	Default confSchema    `yaml:"default"`
}

type tcpRuleSchema struct {
	Default confSchema `yaml:"default"`
}

type confSchema struct {
	Filters     *filters         `yaml:"filters"`
	BackendRefs *[]backendSchema `yaml:"backendRefs"`
}

// filters refuses what a route does to requests besides sending them on.
type filters struct{}

// UnmarshalManifest lets [manifest.Document.Decode] read the type.
func (*filters) UnmarshalManifest(d manifest.Document) error {
	return d.Errorf("", "filters are not proven: take them out of the files")
}

type backendSchema struct {
	Kind        string            `yaml:"kind"`
	Name        string            `yaml:"name"`
	Namespace   string            `yaml:"namespace"`
	Labels      map[string]string `yaml:"labels"`
	SectionName string            `yaml:"sectionName"`
	Port        uint16            `yaml:"port"`
	Weight      *uint32           `yaml:"weight"`
}

// backendKinds are the kinds that a backend may have.
var backendKinds = []reference.Kind{
	{Name: destination.MeshService.Name, Sections: true}, {Name: destination.MeshMultiZoneService.Name, Sections: true}, {Name: destination.MeshExternalService.Name},
}

// Parse reads one route. Policies of the system namespace apply to the callers of all
// namespaces. Every error is a [*manifest.Error].
func Parse(doc manifest.Document, systemNamespace string) (Route, error) {
	if MeshTCPRoute.Owns(doc) {
		return parse(doc, systemNamespace, MeshTCPRoute, func(field string, schema tcpRuleSchema) ([]Match, confSchema, error) {
			if refs := schema.Default.BackendRefs; refs == nil || len(*refs) == 0 {
				return nil, confSchema{}, doc.Errorf(field+".default.backendRefs", "the backends are missing, and Kuma refuses a %s without one: name at least one", MeshTCPRoute.Name)
			}
			return nil, schema.Default, nil
		})
	}
	return parse(doc, systemNamespace, MeshHTTPRoute, func(field string, schema httpRuleSchema) ([]Match, confSchema, error) {
		matches, err := parseMatches(doc, field+".matches", schema.Matches)
		return matches, schema.Default, err
	})
}

func parse[R any](doc manifest.Document, systemNamespace string, kind resource.Kind, read func(field string, schema R) ([]Match, confSchema, error)) (Route, error) {
	head, spec, err := resource.Parse[specSchema[R]](kind, doc)
	if err != nil {
		return Route{}, err
	}
	r := Route{Resource: head, Kind: kind}
	if r.Target, err = target.ParseOutbound(doc, spec.TargetRef); err != nil {
		return Route{}, err
	}
	if len(spec.To) == 0 {
		return Route{}, doc.Errorf("spec.to", "the destinations are missing: name at least one")
	}
	var own []bool
	rules := 0
	for i, schema := range spec.To {
		field := fmt.Sprintf("spec.to[%d]", i)
		item := Item{}
		if item.Ref, err = reference.Parse(doc, field+".targetRef", schema.TargetRef, backendKinds...); err != nil {
			return Route{}, err
		}
		if len(schema.Rules) == 0 {
			return Route{}, doc.Errorf(field+".rules", "the rules are missing: without one the route has no effect")
		}
		if kind == MeshTCPRoute && len(schema.Rules) > 1 {
			return Route{}, doc.Errorf(field+".rules", "there are %d rules, and Kuma refuses more than one in a %s: it has no matches to tell them apart", len(schema.Rules), kind.Name)
		}
		for k, ruleSchema := range schema.Rules {
			rule := Rule{Field: fmt.Sprintf("%s.rules[%d]", field, k), ID: head.ID}
			rule.ID.Section = fmt.Sprintf("rule_%d", rules)
			rules++
			var conf confSchema
			if rule.Matches, conf, err = read(rule.Field, ruleSchema); err != nil {
				return Route{}, err
			}
			if rule.Backends, err = parseBackends(doc, rule.Field+".default.backendRefs", conf.BackendRefs); err != nil {
				return Route{}, err
			}
			item.Rules = append(item.Rules, rule)
		}
		r.To = append(r.To, item)
		own = append(own, item.Ref.IsOwn(&head))
	}
	r.Overwritten = head.OverwrittenRoleWith(systemNamespace, own)
	r.Role, err = head.RoleWith(systemNamespace, own)
	return r, err
}

func parseBackends(doc manifest.Document, field string, schemas *[]backendSchema) ([]Backend, error) {
	if schemas == nil {
		return nil, nil
	}
	out := make([]Backend, len(*schemas))
	if len(out) == 0 {
		return out, nil
	}
	total := uint64(0)
	for i, schema := range *schemas {
		at := fmt.Sprintf("%s[%d]", field, i)
		ref, err := reference.Parse(doc, at, reference.Schema{
			Kind: schema.Kind, Name: schema.Name, Namespace: schema.Namespace, Labels: schema.Labels, SectionName: schema.SectionName,
		}, backendKinds...)
		if err != nil {
			return nil, err
		}
		if schema.Kind == destination.MeshMultiZoneService.Name && schema.Port == 0 {
			return nil, doc.Errorf(at+".port", "the port is missing, and Kuma refuses a backend of kind %s without one: write its number", schema.Kind)
		}
		if schema.Port != 0 && ref.Section != "" {
			return nil, doc.Errorf(at+".port", "must not be set beside sectionName: they are the same")
		}
		out[i] = Backend{Ref: ref, Port: schema.Port, Weight: 1}
		if schema.Weight != nil {
			out[i].Weight = *schema.Weight
		}
		total += uint64(out[i].Weight)
	}
	// envoy.config.route.v3.WeightedCluster takes no more.
	const most = 1<<32 - 1
	if total == 0 {
		return nil, doc.Errorf(field, "the weights come to 0: no request could go anywhere")
	}
	if total > most {
		return nil, doc.Errorf(field, "the weights come to %d: Envoy takes %d at most", total, most)
	}
	return out, nil
}

// SpecFields returns the fields that its documents may have in their spec.
func SpecFields() []string { return manifest.Fields(specSchema[httpRuleSchema]{}) }
