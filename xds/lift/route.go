package lift

import (
	"fmt"
	"slices"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/meshproof/meshproof/internal/messages"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/xds"
)

// routes adds the routes with filters of their own. Where it cannot be said which requests
// a route takes, gates in front ask what its filters ask, for all requests.
func (t *translator) routes(routes []xds.Route, p *policy.Program) {
	var asks []policy.Gate
	for _, r := range routes {
		at := (*messages.Path)(nil).Field("routes").Key(r.Name)
		t.layer, t.lost.filter = policy.L7, at.String()
		t.check(r.Match, at.Field("match"))
		when := t.routeMatch(r.Match, at.Field("match"))
		own := policy.Route{Name: r.Name, When: when.when}
		for i, filter := range r.HTTP {
			place := at.Field("rbac")
			if len(r.HTTP) > 1 {
				place = place.Index(i)
			}
			t.filter(policy.L7, place, filter, &own.Gates, &own.Shadows)
		}
		// A shadow of the route is behind the gates of L4 too.
		shiftShadows(own.Shadows, countL4(p.Gates))
		switch {
		case when.is(policy.Never):
		case when.is(policy.Always):
			own.When = attribute.Path.Segments("/")
			p.Routes = append(p.Routes, own)
		case when.complete:
			p.Routes = append(p.Routes, own)
		default:
			asks = append(asks, askingGates(own)...)
		}
	}
	if len(asks) == 0 {
		return
	}
	p.Gates = insertL7(asks, p.Gates)
	shiftShadows(p.Shadows[countL4(p.Shadows):], len(asks))
	for i := range p.Routes {
		p.Routes[i].Gates = insertL7(asks, p.Routes[i].Gates)
		shiftShadows(p.Routes[i].Shadows, len(asks))
	}
}

// shiftShadows adds gates in front of the shadows that are behind gates of their own layer.
func shiftShadows(shadows []policy.Gate, more int) {
	for i := range shadows {
		if shadows[i].Preceding > 0 {
			shadows[i].Preceding += more
		}
	}
}

func countL4(gates []policy.Gate) (n int) {
	for n < len(gates) && gates[n].Layer == policy.L4 {
		n++
	}
	return n
}

// askingGates returns gates that ask what a route asks, and let everybody pass.
func askingGates(route policy.Route) (out []policy.Gate) {
	var d draft
	d.ask(route.When, nil)
	out = append(out, askingGate(policy.L7, d.asks))
	for _, gates := range [][]policy.Gate{route.Gates, route.Shadows} {
		for _, gate := range gates {
			var d draft
			d.ask(route.When, allowing(gate.Rules))
			out = append(out, askingGate(policy.L7, d.asks))
		}
	}
	return out
}

// insertL7 puts gates in front of the other gates of L7.
func insertL7(asks, gates []policy.Gate) (out []policy.Gate) {
	var behind []policy.Gate
	for _, gate := range gates {
		if gate.Layer == policy.L4 {
			out = append(out, gate)
		} else {
			behind = append(behind, gate)
		}
	}
	return append(append(out, asks...), behind...)
}

// routeMatch reads an envoy.config.route.v3.RouteMatch, which compares the path without its
// query. No request asks for an upgrade by CONNECT.
func (t *translator) routeMatch(m *routev3.RouteMatch, at *messages.Path) reading {
	of := []reading{t.routePath(m, at)}
	for i, h := range m.GetHeaders() {
		of = append(of, t.anyTerm([]term{t.headerMatcher(h, headerText(h).asOne(), at.Field("headers").Index(i))}))
	}
	for i, p := range m.GetQueryParameters() {
		of = append(of, t.parameterMatcher(p, at.Field("query_parameters").Index(i)))
	}
	for _, more := range []struct {
		set  bool
		name string
	}{
		{m.GetRuntimeFraction() != nil, "runtime_fraction"},
		{len(m.GetCookies()) > 0, "cookies"},
		{m.GetGrpc() != nil, "grpc"},
		{m.GetTlsContext() != nil, "tls_context"},
		{len(m.GetDynamicMetadata()) > 0, "dynamic_metadata"},
		{len(m.GetFilterState()) > 0, "filter_state"},
	} {
		if more.set {
			of = append(of, t.unsaid(at, "no route of a policy can ask for "+more.name))
		}
	}
	return allOf(of)
}

func (t *translator) routePath(m *routev3.RouteMatch, at *messages.Path) reading {
	var of text
	switch by := m.GetPathSpecifier().(type) {
	case *routev3.RouteMatch_Prefix:
		of.alternatives = []alternative{beginning(by.Prefix)}
	case *routev3.RouteMatch_Path:
		of.alternatives = []alternative{exact(by.Path)}
	case *routev3.RouteMatch_PathSeparatedPrefix:
		of.alternatives = []alternative{exact(by.PathSeparatedPrefix), beginning(by.PathSeparatedPrefix + "/")}
	case *routev3.RouteMatch_SafeRegex:
		of = regexText(by.SafeRegex.GetRegex()).asOne()
	case *routev3.RouteMatch_ConnectMatcher_:
		return exactly(policy.Never)
	default:
		return t.unsaid(at, "it asks for no path, or in a way that no policy can")
	}
	_, regex := m.PathSpecifier.(*routev3.RouteMatch_SafeRegex)
	if sensitive := m.CaseSensitive; sensitive != nil && !sensitive.Value && !regex {
		of.ignoreCase()
	}
	return t.anyTerm([]term{{path: &comparison{text: of, path: at}}})
}

// header compares a header of the request. A connection has none, and Envoy refuses a
// network filter that asks for one. A matcher joins the lines of a header.
func (t *translator) header(name string, joins bool, of text, at *messages.Path) term {
	a := attribute.Header(name)
	form := policy.Named
	if joins && a.Joined != nil {
		a, form = a.Joined, policy.Ordered
	}
	switch {
	case t.layer == policy.L4:
		return term{reading: t.unsaid(at, "it asks for a header of a connection: Envoy refuses it")}
	case !slices.Contains(a.Forms, form):
		return term{reading: t.unsaid(at, fmt.Sprintf("no policy can ask for the header %q", strings.ToLower(name)))}
	case a == attribute.Header(":path"):
		return t.attribute(attribute.Path, of, at)
	default:
		return t.attribute(a, of, at)
	}
}

// headerMatcher reads an envoy.config.route.v3.HeaderMatcher. An inverted match takes what no
// line meets, but not the request without the header, unless that counts as an empty one:
// measured on 1.36.4 and 1.40.0.
func (t *translator) headerMatcher(h *routev3.HeaderMatcher, of text, at *messages.Path) term {
	out := t.header(h.GetName(), false, of, at)
	a := attribute.Header(h.GetName())
	present, byPresence := h.GetHeaderMatchSpecifier().(*routev3.HeaderMatcher_PresentMatch)
	byPresence = byPresence || h.GetHeaderMatchSpecifier() == nil
	if a.Always || byPresence || !h.GetTreatMissingHeaderAsEmpty() && !h.GetInvertMatch() {
		if (present != nil && !present.PresentMatch) != h.GetInvertMatch() {
			out = term{reading: negated(t.anyTerm([]term{out}))}
		}
		return out
	}
	met := t.anyTerm([]term{out})
	has := exactly(policy.Is{Attribute: a, Match: policy.Match{Kind: policy.Present}})
	switch {
	case of.reason != "":
		return term{reading: t.unsaid(at, of.reason)}
	case !h.GetTreatMissingHeaderAsEmpty():
		return term{reading: allOf([]reading{has, negated(met)})}
	case of.matches(""):
		met = anyOf([]reading{met, negated(has)})
	}
	if h.GetInvertMatch() {
		met = negated(met)
	}
	return term{reading: met}
}

// parameterMatcher reads an envoy.config.route.v3.QueryParameterMatcher. Releases of Envoy differ in
// what makes a parameter present.
func (t *translator) parameterMatcher(m *routev3.QueryParameterMatcher, at *messages.Path) reading {
	a := attribute.QueryParameter(m.GetName())
	by, ok := m.GetQueryParameterMatchSpecifier().(*routev3.QueryParameterMatcher_StringMatch)
	if !ok {
		return t.unsaid(at, "no route of a policy can ask whether a parameter is present")
	}
	return t.anyTerm([]term{t.attribute(a, textOf(by.StringMatch).asOne(), at)})
}

func headerText(h *routev3.HeaderMatcher) text {
	switch of := h.GetHeaderMatchSpecifier().(type) {
	case *routev3.HeaderMatcher_StringMatch:
		return textOf(of.StringMatch)
	case *routev3.HeaderMatcher_PresentMatch, nil:
		return text{alternatives: []alternative{beginning("")}}
	default:
		return text{reason: unknownMember(h, "header_match_specifier")}
	}
}
