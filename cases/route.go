package cases

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// routes reads the routes of an inbound, in the order in which Envoy tries them.
func (b *builder) routes(field string, in inboundSchema) ([]policy.InboundRoute, error) {
	if in.Protocol == policy.TCP && in.Routes != nil {
		return nil, b.doc.Errorf(field+".routes", "a tcp inbound has no routes")
	}
	var out []policy.InboundRoute
	for i, s := range in.Routes {
		entry := fmt.Sprintf("%s.routes[%d]", field, i)
		if s.Name == "" {
			return nil, b.doc.Errorf(entry+".name", "the route has no name")
		}
		if slices.ContainsFunc(out, func(r policy.InboundRoute) bool { return r.Name == s.Name }) {
			return nil, b.doc.Errorf(entry+".name", "route %q appears twice", s.Name)
		}
		when, err := b.routeCondition(entry, s)
		if err != nil {
			return nil, err
		}
		out = append(out, policy.InboundRoute{Name: s.Name, When: when})
	}
	return out, nil
}

var methodToken = regexp.MustCompile(`^[A-Z0-9_-]+$`)

func (b *builder) routeCondition(field string, s routeSchema) (policy.Condition, error) {
	var all policy.And
	if s.Path != nil {
		path := attribute.Path.Exact(s.Path.Value)
		switch s.Path.Type {
		case "Exact":
		case "Prefix":
			path = attribute.Path.Segments(s.Path.Value)
		default:
			return nil, b.doc.Errorf(field+".path.type", "%q is unknown: use Exact or Prefix", s.Path.Type)
		}
		if !strings.HasPrefix(s.Path.Value, "/") || strings.ContainsAny(s.Path.Value, "?# \r\n") {
			return nil, b.doc.Errorf(field+".path.value", "%q is not a path without query", s.Path.Value)
		}
		all = append(all, path)
	}
	if s.Method != "" {
		if !methodToken.MatchString(s.Method) {
			return nil, b.doc.Errorf(field+".method", "%q is not a method: use capitals, as in GET", s.Method)
		}
		all = append(all, attribute.Method.Exact(s.Method))
	}
	switch len(all) {
	case 0:
		return nil, b.doc.Errorf(field, "the route takes everything: set path or method")
	case 1:
		return all[0], nil
	default:
		return all, nil
	}
}
