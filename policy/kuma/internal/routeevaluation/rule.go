package routeevaluation

import (
	"regexp"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/plainheader"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/reference"
	"github.com/meshproof/meshproof/policy/kuma/internal/route"
)

// candidate is a match of a rule that takes the request.
type candidate struct {
	rule *route.Rule
	// namedRoute is the route that gives the name, backendRoute the one that gives the backends.
	namedRoute, backendRoute *route.Route
	match                    route.Match
	backends                 []route.Backend
	weight                   weight
	// section is 1 for an item of one port of a MeshService, item is the place of the item in its policy.
	section, item int
}

// isStronger reports whether a match that is as precise as another one is of the stronger item: of the stronger
// route, of one port, of the smaller name, and of one route the later item.
func (a candidate) isStronger(b candidate) bool {
	x, y := [2]int{a.section}, [2]int{b.section}
	if a.weight.isStronger(b.weight, x, y) || b.weight.isStronger(a.weight, y, x) {
		return a.weight.isStronger(b.weight, x, y)
	}
	return a.item > b.item
}

// rule finds the rule that takes the request: of the matches that hold the most precise, and
// of equals that of the strongest route.
func (c call) rule() (best candidate, found bool) {
	all := c.candidates()
	for _, one := range all {
		if !found || isMorePrecise(one.match, best.match) || !isMorePrecise(best.match, one.match) && one.isStronger(best) {
			best, found = one, true
		}
	}
	if !found {
		return best, false
	}
	if best.backends == nil {
		best.takeBackends(all)
	}
	if c.Released {
		best.backendRoute = best.namedRoute
	}
	return best, true
}

// takeBackends gives a rule without backends those of the strongest rule with the same matches.
func (a *candidate) takeBackends(all []candidate) {
	var next *candidate
	for i := range all {
		one := &all[i]
		if one.backends != nil && slices.EqualFunc(one.rule.Matches, a.rule.Matches, isSame) && (next == nil || one.isStronger(*next)) {
			next = one
		}
	}
	if next != nil {
		a.backends, a.backendRoute = next.backends, next.backendRoute
	}
}

// The kinds of routes.
const (
	httpRoute = "MeshHTTPRoute"
	tcpRoute  = "MeshTCPRoute"
)

// candidates returns the matches that take the request, of all routes that apply.
func (c call) candidates() (all []candidate) {
	kind := httpRoute
	if c.port.Protocol == policy.TCP {
		kind = tcpRoute
	}
	for i := range c.Routes {
		r := &c.Routes[i]
		var refs []reference.Ref
		for _, item := range r.To {
			refs = append(refs, item.Ref)
		}
		role := c.roleOf(r.Resource, refs)
		if r.Kind.Name != kind || !applies(r.Resource, role, r.Target, c.proxy) {
			continue
		}
		weight := weightOf(r.Resource, role, r.Target)
		for place, item := range r.To {
			if !c.isPort(item.Ref, r.Resource) {
				continue
			}
			section := 0
			if item.Ref.Kind == "MeshService" && item.Ref.Section != "" {
				section = 1
			}
			for k := range item.Rules {
				rule := &item.Rules[k]
				for _, m := range c.matchesOf(rule, kind) {
					all = append(all, candidate{rule, r, r, m, rule.Backends, weight, section, place})
				}
			}
		}
	}
	return all
}

// matchesOf returns the matches of a rule that the request meets. A rule of a MeshTCPRoute takes every connection.
func (c call) matchesOf(rule *route.Rule, kind string) (out []route.Match) {
	if kind == tcpRoute {
		return []route.Match{{}}
	}
	for _, m := range rule.Matches {
		if holds(m, c.request) {
			out = append(out, m)
		}
	}
	return out
}

// isMorePrecise reports whether a match is tried before another one.
func isMorePrecise(a, b route.Match) bool {
	x, y := precision(a), precision(b)
	for i := range x {
		if x[i] != y[i] {
			return x[i] > y[i]
		}
	}
	return false
}

func precision(m route.Match) [5]int {
	var p [5]int
	if m.Root {
		p[0], p[1] = 2, 1
	}
	if m.Path != nil {
		p[0] = map[policy.MatchKind]int{policy.Exact: 3, policy.Segments: 2, policy.Regex: 1}[m.Path.Kind]
		p[1] = len(m.Path.Value)
	}
	if m.Method != "" {
		p[2] = 1
	}
	p[3], p[4] = len(m.Headers), len(m.Query)
	return p
}

func isSame(a, b route.Match) bool {
	same := func(x, y []route.Pair) bool {
		if len(x) != len(y) {
			return false
		}
		for i := range x {
			if x[i] != y[i] {
				return false
			}
		}
		return true
	}
	return a.Root == b.Root && a.Written == b.Written && (a.Path == nil) == (b.Path == nil) && (a.Path == nil || *a.Path == *b.Path) && a.Method == b.Method && same(a.Headers, b.Headers) && same(a.Query, b.Query)
}

// holds reports whether a request meets a match.
func holds(m route.Match, r policy.Request) bool {
	path, query, _ := strings.Cut(r.Path, "?")
	if m.Path != nil && !text(*m.Path, path) || m.Method != "" && m.Method != r.Method {
		return false
	}
	for _, want := range m.Headers {
		lines := plainheader.Lines(r, strings.ToLower(want.Name), r.JoinsLines)
		if has := slices.ContainsFunc(lines, func(line string) bool { return text(want.Match, line) }); has == want.Absent {
			return false
		}
	}
	for _, want := range m.Query {
		value, has := "", false
		for _, part := range strings.Split(query, "&") {
			if name, of, _ := strings.Cut(part, "="); name == want.Name && !has && query != "" {
				value, has = of, true
			}
		}
		if !has || !text(want.Match, value) {
			return false
		}
	}
	return true
}

// text compares a text.
func text(m policy.Match, got string) bool {
	switch m.Kind {
	case policy.Exact:
		return got == m.Value
	case policy.Prefix:
		return strings.HasPrefix(got, m.Value)
	case policy.Segments:
		return got == m.Value || strings.HasPrefix(got, m.Value+"/")
	case policy.Present:
		return true
	default:
		expression, err := regexp.Compile("^(?s:" + m.Value + ")$")
		return err == nil && expression.MatchString(got)
	}
}
