// Package rbac turns a gate into the form that an RBAC filter takes: a matcher for
// ordered rules, an envoy.config.rbac.v3.RBAC for named ones. One file for each
// attribute says how a filter asks for it.
//
// It guarantees that Envoy decides by the result as package policy decides by the gate.
// What a form cannot say is an error with the name of the attribute; no program makes
// the package panic. It knows no listener and no filter chain.
package rbac

import (
	"fmt"
	"slices"
	"sync"
	"unicode/utf8"

	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	accesslogdatav3 "github.com/envoyproxy/go-control-plane/envoy/data/accesslog/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// row says how Envoy asks for an attribute and reports it.
type row struct {
	attribute *policy.Attribute
	// since is the oldest release of Envoy on which the row was measured.
	since string
	// input is what a matcher looks at, nil where no input shows the attribute.
	input proto.Message
	// predicate asks for the attribute in a matcher. The default asks the input once.
	predicate func(m policy.Match) *predicateProto
	// principal asks for the attribute in a named rule, nil where no principal shows it.
	principal func(m policy.Match) *rbacv3.Principal
	// permission asks for the attribute in a named rule beside others that no principal shows,
	// nil where no permission shows it.
	permission func(m policy.Match) *rbacv3.Permission
	// route narrows a route match, nil where a route cannot ask for the attribute.
	route func(route *routev3.RouteMatch, m policy.Match)
	// logged returns the values that an entry of the access log reports, nil where it
	// reports none. The request is nil for a connection.
	logged func(common *accesslogdatav3.AccessLogCommon, request *accesslogdatav3.HTTPRequestProperties) []string
	// never reports whether no request has a value that is matched, although the text
	// that Envoy compares may have one. It is nil where there is no such match.
	never func(m policy.Match) bool
	// unsaid returns why a matcher cannot ask for a match, and "" where it can. It is nil
	// where a matcher can ask for every match of the attribute.
	unsaid func(m policy.Match) string
}

// rows has the rows of attributes of their own, and families those of the others, by the
// names of the families.
var (
	rows     = map[*policy.Attribute]*row{}
	families = map[string]*family{}
)

// family makes the rows of attributes that differ by a key.
type family struct {
	row func(a *policy.Attribute) row
	// shown returns the attribute that an input of a matcher shows, and nil for none.
	shown func(input proto.Message) *policy.Attribute
	made  sync.Map
}

// add puts a row into the table.
func add(r row) *row {
	r.complete()
	rows[r.attribute] = &r
	return &r
}

// addFamily puts the rows of a family into the table.
func addFamily(name string, f *family) *family {
	families[name] = f
	return f
}

// complete fills in the default of the column predicate.
func (r *row) complete() {
	if r.input != nil && r.predicate == nil {
		in := inputOf(r.input)
		r.predicate = func(m policy.Match) *predicateProto { return single(in, stringMatcher(m)) }
	}
}

// rowOf returns the row of an attribute, and nil for an attribute without one.
func rowOf(a *policy.Attribute) *row {
	if r := rows[a]; r != nil || a == nil {
		return r
	}
	f := families[a.Family]
	if f == nil {
		return nil
	}
	if made, ok := f.made.Load(a); ok {
		return made.(*row)
	}
	r := f.row(a)
	r.attribute = a
	r.complete()
	made, _ := f.made.LoadOrStore(a, &r)
	return made.(*row)
}

// Shown returns the attribute that an input of a matcher shows, such as
// envoy.extensions.matching.common_inputs.ssl.v3.UriSanInput, and nil for none.
func Shown(input proto.Message) *policy.Attribute {
	for a, r := range rows {
		if r.input != nil && proto.Equal(r.input, input) {
			return a
		}
	}
	for _, f := range families {
		if a := f.shown(input); a != nil {
			return a
		}
	}
	return nil
}

// check reports the first leaf of a condition that the form cannot say.
func check(c policy.Condition, form policy.Form) error {
	for c := range policy.Walk(c) {
		if err := checkLeaf(c, form); err != nil {
			return err
		}
	}
	return nil
}

func checkLeaf(c policy.Condition, form policy.Form) error {
	switch c := c.(type) {
	case policy.And, policy.Or, policy.Not, policy.Constant:
		return nil
	case policy.Is:
		switch r := rowOf(c.Attribute); {
		case c.Attribute == nil:
			return fmt.Errorf("condition %q names no attribute", c)
		case r == nil, form == policy.Named && r.principal == nil && r.permission == nil, form != policy.Named && r.predicate == nil:
			return fmt.Errorf("condition %q: a gate of %s rules cannot ask Envoy for the attribute %s", c, form, c.Attribute.Name)
		case !utf8.ValidString(c.Match.Value):
			return fmt.Errorf("%q is not valid UTF-8", c.Match.Value)
		case c.Match == (policy.Match{Kind: policy.Prefix}):
			return fmt.Errorf("condition %q: Envoy takes no empty prefix", c)
		case form != policy.Named && r.unsaid != nil && r.unsaid(c.Match) != "":
			return fmt.Errorf("condition %q: a gate of %s rules cannot ask Envoy for it: %s", c, form, r.unsaid(c.Match))
		}
		return nil
	default:
		return fmt.Errorf("condition %q of the type %T is none of package policy", c, c)
	}
}

// isPrincipal reports whether a principal can ask for a match. Envoy reads templates in
// permissions alone.
func (r *row) isPrincipal(m policy.Match) bool {
	return r.principal != nil && m.Kind != policy.Template
}

// routed are the kinds of matches that a route can ask for. It can also ask whether a header
// is there.
var routed = []policy.MatchKind{policy.Exact, policy.Prefix, policy.Segments, policy.Regex}

// NarrowRoute adds what a condition asks for to a route match. It returns an error for
// a condition that is more than an And of attributes that tell a route to Envoy, and of
// headers that must be absent.
func NarrowRoute(match *routev3.RouteMatch, c policy.Condition) error {
	switch c := c.(type) {
	case nil:
		return nil
	case policy.And:
		for _, c := range c {
			if err := NarrowRoute(match, c); err != nil {
				return err
			}
		}
		return nil
	case policy.Is:
		return narrowRoute(match, c)
	case policy.Not:
		// Envoy inverts other matches too, but says less clearly what an absent header is then.
		if is, ok := c.Condition.(policy.Is); ok && isPresence(is) {
			if err := narrowRoute(match, is); err != nil {
				return err
			}
			match.Headers[len(match.Headers)-1].InvertMatch = true
			return nil
		}
	}
	return fmt.Errorf("condition %q: no route can ask Envoy about this", c)
}

// isPresence reports whether a condition asks whether a header is there.
func isPresence(is policy.Is) bool {
	return is.Attribute != nil && is.Attribute.Family == "header" && is.Match == policy.Match{Kind: policy.Present}
}

func narrowRoute(match *routev3.RouteMatch, c policy.Is) error {
	if c.Attribute == nil {
		return fmt.Errorf("condition %q names no attribute", c)
	}
	r := rowOf(c.Attribute)
	if r == nil || r.route == nil {
		return fmt.Errorf("condition %q: no route can ask Envoy for the attribute %s", c, c.Attribute.Name)
	}
	if !utf8.ValidString(c.Match.Value) {
		return fmt.Errorf("%q is not valid UTF-8", c.Match.Value)
	}
	if (!slices.Contains(routed, c.Match.Kind) || c.Match.AnyCase) && !isPresence(c) {
		return fmt.Errorf("condition %q: a route is told by a whole value, the beginning or the segments of a path, a regular expression, or the presence of a header", c)
	}
	if _, open := match.PathSpecifier.(*routev3.RouteMatch_Prefix); c.Attribute == attribute.Path && (!open || match.GetPrefix() != "") {
		return fmt.Errorf("condition %q: a route asks Envoy for the path once", c)
	}
	r.route(match, c.Match)
	return nil
}

// Logged returns the values of an attribute that an entry of the access log reports.
// The request is nil for a connection.
func Logged(a *policy.Attribute, common *accesslogdatav3.AccessLogCommon, request *accesslogdatav3.HTTPRequestProperties) []string {
	if r := rowOf(a); r != nil && r.logged != nil {
		return r.logged(common, request)
	}
	return nil
}
