package conversion

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/policy/istio/internal/authorization"
	"github.com/meshproof/meshproof/policy/manifest"
)

// matcher is an item of a list of a MeshTrafficPermission. All of its fields have to match.
type matcher struct {
	SPIFFEID *match `yaml:"spiffeID,omitempty"`
	Path     *match `yaml:"path,omitempty"`
	Method   string `yaml:"method,omitempty"`
	SNI      *match `yaml:"sni,omitempty"`
}

type match struct {
	Type  string `yaml:"type"`
	Value string `yaml:"value"`
}

func (m matcher) equal(other matcher) bool { return reflect.DeepEqual(m, other) }

func exact(value string) *match  { return &match{"Exact", value} }
func prefix(value string) *match { return &match{"Prefix", value} }

// writer turns a rule into matchers, and collects what they cannot say.
type writer struct {
	doc manifest.Document
	// mesh is the mesh's own trust domain, zero where nobody stated it.
	mesh  spiffeid.TrustDomain
	field string
	errs  []error
}

func item(field string, i int) string { return fmt.Sprintf("%s[%d]", field, i) }

func (w *writer) refuse(field, format string, args ...any) {
	w.errs = append(w.errs, w.doc.Errorf(w.field+field, "kuma cannot say it: "+format, args...))
}

// mostMatchers bounds the matchers of a rule: lists are crossed.
const mostMatchers = 1000

// matchers returns a matcher for each combination of a caller, a method, a path and a server
// name.
func (w *writer) matchers(rule *authorization.Rule) []matcher {
	out := []matcher{{}}
	cross := func(all []*match, put func(*matcher, *match)) {
		if len(all) == 0 {
			return
		}
		if len(out)*len(all) > mostMatchers {
			w.refuse("", "the rule has more than %d combinations of callers, methods, paths and server names", mostMatchers)
			return
		}
		crossed := make([]matcher, 0, len(out)*len(all))
		for _, m := range out {
			for _, one := range all {
				put(&m, one)
				crossed = append(crossed, m)
			}
		}
		out = crossed
	}
	if rule.From != nil {
		var callers []*match
		for i, from := range *rule.From {
			callers = append(callers, w.callers(fmt.Sprintf(".from[%d].source", i), from.Source)...)
		}
		cross(callers, func(m *matcher, one *match) { m.SPIFFEID = one })
	}
	names := w.serverNames(rule)
	cross(names, func(m *matcher, one *match) { m.SNI = one })
	if rule.To != nil {
		of := out
		var all []matcher
		for i, to := range *rule.To {
			out = slices.Clone(of)
			field := fmt.Sprintf(".to[%d].operation", i)
			w.refuseOthers(field, to.Operation, "methods", "paths")
			cross(w.methods(field, to.Operation.Methods), func(m *matcher, one *match) { m.Method = one.Value })
			cross(w.paths(field, to.Operation.Paths), func(m *matcher, one *match) { m.Path = one })
			all = append(all, out...)
		}
		out = all
	}
	if slices.ContainsFunc(out, matcher{}.equal) && len(w.errs) == 0 {
		w.refuse("", "no matcher meets every caller: name the callers, as in principals: [TRUST-DOMAIN/*]")
	}
	return out
}

// refuseOthers refuses the lists of a source or an operation other than those that are named.
func (w *writer) refuseOthers(field string, of any, named ...string) {
	lists := reflect.ValueOf(of).Elem()
	for i := range lists.NumField() {
		name := lists.Type().Field(i).Tag.Get("yaml")
		if lists.Field(i).Len() > 0 && !slices.Contains(named, name) {
			w.refuse(field+"."+name, "a matcher asks for a SPIFFE ID, a path, a method and a server name")
		}
	}
}

func (w *writer) callers(field string, source *authorization.Source) (out []*match) {
	w.refuseOthers(field, source, "principals")
	for i, value := range source.Principals {
		at := item(field+".principals", i)
		if !w.mesh.IsZero() {
			// The mesh has one trust domain here: a principal stands for one.
			value = authorization.Options{TrustDomain: w.mesh.Name()}.Expand(value)[0]
		}
		name, begins := strings.CutSuffix(value, "*")
		domain, _, hasPath := strings.Cut(name, "/")
		_, wrongDomain := spiffeid.TrustDomainFromString(domain)
		_, wrongID := spiffeid.FromString("spiffe://" + name)
		switch {
		case strings.HasPrefix(value, "*"):
			w.refuse(at, "a SPIFFE ID is compared as a whole, or by its beginning")
		case domain == authorization.LocalDomain && hasPath && w.mesh.IsZero():
			w.refuse(at, "%s stands for the trust domain of the mesh: state it by --trust-domain", domain)
		case begins && (wrongDomain != nil || !hasPath), !begins && wrongID != nil:
			w.refuse(at, "%q is no SPIFFE ID and no beginning of one behind its trust domain", value)
		case begins:
			out = append(out, prefix("spiffe://"+name))
		default:
			out = append(out, exact("spiffe://"+name))
		}
	}
	return out
}

// methodCharacters are those of a token (RFC 9110, section 5.6.2), without small letters.
const methodCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-.^_`|~"

func (w *writer) methods(field string, values []string) (out []*match) {
	for i, value := range values {
		switch {
		case hasStar(value):
			w.refuse(item(field+".methods", i), "a method is compared as a whole")
		case strings.ContainsFunc(value, func(r rune) bool { return !strings.ContainsRune(methodCharacters, r) }):
			w.refuse(item(field+".methods", i), "%q is no method in capitals", value)
		default:
			out = append(out, exact(value))
		}
	}
	return out
}

// paths returns the paths. The path and what is below it together are a Prefix, which goes by
// segments; one of them alone is none.
func (w *writer) paths(field string, values []string) (out []*match) {
	for i, value := range values {
		at := item(field+".paths", i)
		below, isBelow := strings.CutSuffix(value, "/*")
		switch {
		case strings.ContainsAny(value, "{}"), hasStar(value) && !isBelow, strings.HasPrefix(value, "*"):
			w.refuse(at, "a path is compared as a whole, or by its first segments")
		case !strings.HasPrefix(value, "/"), strings.ContainsFunc(value, func(r rune) bool { return r <= ' ' || r > '~' || r == '?' || r == '#' }):
			w.refuse(at, "%q is no path", value)
		case strings.Contains(value, "//"):
			w.refuse(at, "Kuma merges the slashes of a path before it compares it")
		case isBelow && below == "":
			out = append(out, prefix("/"))
		case isBelow && !slices.Contains(values, below):
			w.refuse(at, "a Prefix of Kuma takes the path %s too: add it", below)
		case isBelow:
			out = append(out, prefix(below))
		case !slices.Contains(values, value+"/*"):
			out = append(out, exact(value))
		}
	}
	return out
}

func (w *writer) serverNames(rule *authorization.Rule) (out []*match) {
	if rule.When == nil {
		return nil
	}
	for i, when := range *rule.When {
		field := fmt.Sprintf(".when[%d]", i)
		switch {
		case when.Key != "connection.sni":
			w.refuse(field+".key", "a matcher asks for a SPIFFE ID, a path, a method and a server name")
		case len(when.NotValues) > 0:
			w.refuse(field+".notValues", "a matcher has no negation")
		case i > 0:
			w.refuse(field, "a matcher asks for one server name")
		}
		for j, value := range when.Values {
			if hasStar(value) {
				w.refuse(item(field+".values", j), "a server name is compared as a whole")
				continue
			}
			if value != strings.ToLower(value) {
				w.refuse(item(field+".values", j), "Envoy compares server names in lower case, and none meets this one: leave it out")
				continue
			}
			out = append(out, exact(value))
		}
	}
	return out
}
