package authorization

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/warning"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/classes"
	"github.com/meshproof/meshproof/policy/linkerd/internal/object"
	"github.com/meshproof/meshproof/policy/linkerd/internal/route"
)

// paths warns of a route of a path that refuses callers whom a route of a wider path lets in: the proxy compares a path as it
// is sent, and another spelling of it takes the wide route. A route for probes refuses them too, and keeps nobody away.
func (l *linter) paths(server Server, routes []route.Route) {
	if server.kindOfRoutes() != route.HTTP {
		return
	}
	for _, r := range routes {
		if takesEveryPath(r) {
			continue
		}
		for field, m := range pathsOf(r) {
			spellings := ""
			i := slices.IndexFunc(routes, func(other route.Route) bool {
				spellings = spellingsFor(other, r, m)
				return spellings != "" && l.letsInMore(server, other, r)
			})
			if i >= 0 {
				l.warnings = append(l.warnings, policy.Warning{Kind: warning.OtherSpelling, Place: r.Place(field), Policy: r.String(), Message: fmt.Sprintf(
					"Linkerd compares a path as it is sent: %s, which lets in callers whom this route does not, and the workload may read that as %s: let the other route name its paths with Exact", spellings+" "+routes[i].String(), m.Path.Value)})
				break
			}
		}
	}
}

// spellingsFor says which other spellings of the path of a match take another route, "" where none is known.
func spellingsFor(other, r route.Route, m route.Match) string {
	if len(other.Hosts) > 0 && !slices.ContainsFunc(other.Hosts, func(host string) bool { return slices.Contains(r.Hosts, host) }) {
		return ""
	}
	for _, rule := range other.Rules {
		for _, wide := range rule.AllMatches() {
			isWide := wide.Path.Type == "" || wide.Path.Type == route.PathPrefix
			if !isWide || len(wide.Headers)+len(wide.Query) > 0 || wide.Method != "" && m.Method != "" && wide.Method != m.Method || wide.RPC != nil {
				continue
			}
			above := strings.TrimSuffix(wide.Path.Value, "/")
			rest, isBelow := strings.CutPrefix(m.Path.Value, above+"/")
			switch {
			case isBelow && rest == "" && m.Path.Type == route.Exact:
				return above + "// takes"
			case isBelow && m.Path.Type == route.Exact:
				return m.Path.Value + "/ and " + above + "//" + rest + " take"
			case isBelow:
				return above + "//" + rest + " and " + above + "/x/../" + rest + " take"
			case m.Path.Type == route.Exact && m.Path.Value == above:
				return m.Path.Value + "/ takes"
			}
		}
	}
	return ""
}

// expressions warns of a route of a header by an expression that refuses callers whom a route of every path lets in: the proxy compares
// no line that has a character beyond ASCII (MatchHeader of linkerd2-proxy), so that it takes the wide route. The lab compares it.
func (l *linter) expressions(server Server, routes []route.Route) {
	for _, r := range routes {
		field, header := ofExpression(r)
		if header.Name == "" || server.kindOfRoutes() != r.Head.Kind {
			continue
		}
		i := slices.IndexFunc(routes, func(other route.Route) bool { return takesEveryPath(other) && l.letsInMore(server, other, r) })
		if i >= 0 {
			l.warnings = append(l.warnings, policy.Warning{Kind: warning.OtherSpelling, Place: r.Place(field), Policy: r.String(), Message: fmt.Sprintf(
				"Linkerd compares no line of %s with an expression that has a character beyond ASCII: a request with such a line takes %s, which lets in callers whom this route does not, and the lab takes it by this route: compare the header with Exact, or let the other route refuse", header.Name, routes[i])})
		}
	}
}

// ofExpression returns the first header of a route that is compared with an expression, and its field; no name where there is none.
func ofExpression(r route.Route) (field string, header route.Value) {
	for i, rule := range r.Rules {
		for k, m := range rule.Matches {
			for h, value := range m.Headers {
				if value.Type == route.RegularExpression {
					return object.Item(object.Item(object.Item("spec.rules", i)+".matches", k)+".headers", h), value
				}
			}
		}
	}
	return "", route.Value{}
}

// takesEveryPath reports whether a route takes each request that no closer route takes.
func takesEveryPath(r route.Route) bool {
	return len(r.Hosts) == 0 && slices.ContainsFunc(r.Rules, func(rule route.Rule) bool {
		return len(rule.Matches) == 0 || slices.ContainsFunc(rule.Matches, func(m route.Match) bool {
			isWide := m.Path.Type == "" || m.Path.Type == route.PathPrefix && m.Path.Value == "/"
			return isWide && len(m.Headers)+len(m.Query) == 0 && m.Method == "" && m.RPC == nil
		})
	})
}

// pathsOf yields the matches of a route whose paths are written out, each with the field of its path.
func pathsOf(r route.Route) iter.Seq2[string, route.Match] {
	return func(yield func(string, route.Match) bool) {
		for i, rule := range r.Rules {
			for k, m := range rule.Matches {
				isWritten := m.Path.Type == route.Exact || m.Path.Type == route.PathPrefix && m.Path.Value != "/"
				if isWritten && !yield(object.Item(object.Item("spec.rules", i)+".matches", k)+".path", m) {
					return
				}
			}
		}
	}
}

// letsInMore reports whether a caller may take a route of a Server, and may not take another one. It is false where the other
// one lets in a caller without an identity whom the first one refuses: it opens its path, as for probes.
func (l *linter) letsInMore(server Server, r, than route.Route) bool {
	program := func(of route.Route) policy.Program {
		rules := slices.Concat(l.rulesOf(server, l.opts), l.opts.defaults(server.Spec.AccessPolicy), l.rulesOfRoute(of, l.opts))
		gate, _ := gates(policy.L7, rules, server.Spec.AccessPolicy)
		return policy.Program{Gates: []policy.Gate{gate}}
	}
	more, less := program(r), program(than)
	all := classes.Cut(classes.Surface{}, more, less).Classes
	isOnlyIn := func(q policy.Request, a, b policy.Program) bool {
		return policy.Decide(a, q).Effect == policy.Allow && policy.Decide(b, q).Effect == policy.Deny
	}
	opens := slices.ContainsFunc(all, func(c classes.Class) bool {
		nameless := c.Witness
		nameless.URIs, nameless.DNS = nil, nil
		return isOnlyIn(nameless, less, more)
	})
	return !opens && slices.ContainsFunc(all, func(c classes.Class) bool { return isOnlyIn(c.Witness, more, less) })
}
