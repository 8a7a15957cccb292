package classes_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/internal/programtest"
	"github.com/meshproof/meshproof/internal/property"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/classes"
)

// world is every request that differs in one attribute alone, as short as can be.
type world struct {
	name string
	// ordered and named are the attributes that gates of these forms ask for.
	ordered, named []*policy.Attribute
	// values are drawn for matches, with these expressions.
	values, regexes []string
	// texts are those of which requests are made.
	texts   []string
	request func(text string) (policy.Request, bool)
	// routes is true where a route may ask for a parameter of the query.
	routes bool
}

// linesOf makes a request of a text: "!" parts lines, and stands behind each of them.
func linesOf(header string) func(string) (policy.Request, bool) {
	return func(text string) (r policy.Request, ok bool) {
		for line := range strings.SplitAfterSeq(text, "!") {
			line, whole := strings.CutSuffix(line, "!")
			if !whole && line != "" || strings.Trim(line, " ") != line {
				return r, false
			}
			if whole {
				r.Headers = append(r.Headers, policy.Header{Name: header, Value: line})
			}
		}
		return r, true
	}
}

// worlds has a world for each attribute whose values are more than a text.
func worlds() []world {
	role, origin := attribute.Header("x-role"), attribute.Header("origin")
	groups, sub := attribute.Claim("groups", "[]"), attribute.Claim("sub")
	lines := programtest.Words("ab,!", 5)
	regexes := []string{"a.*", ".*b", "[ab]", "(a|b,)*", "[^,]*", ".*"}
	return []world{
		{name: "lines of a header", ordered: []*policy.Attribute{role.Joined}, named: []*policy.Attribute{role}, values: programtest.Words("ab,", 2), regexes: regexes, texts: lines, request: linesOf("x-role")},
		{name: "joined lines", ordered: []*policy.Attribute{origin}, named: []*policy.Attribute{origin}, values: programtest.Words("ab,", 2), regexes: regexes, texts: lines, request: linesOf("origin")},
		{
			name: "host", ordered: []*policy.Attribute{attribute.Host}, named: []*policy.Attribute{attribute.Host},
			values: programtest.Words("aB:8", 2), regexes: []string{"a.*", "[aB]+(:8)?", ".*:.*"}, texts: programtest.Words("aAbB:8", 4),
			request: func(text string) (policy.Request, bool) {
				name, port, _ := strings.Cut(text, ":")
				return policy.Request{Host: text}, name != "" && strings.Trim(port, "8") == ""
			},
		},
		{
			name: "query and parameter", named: []*policy.Attribute{attribute.Query, attribute.Header(":path"), attribute.Path}, ordered: []*policy.Attribute{attribute.Query, attribute.Header(":path")},
			values: append([]string{"/?a", "/a", "/"}, programtest.Words("ab=&", 2)...), regexes: []string{"/.*", ".*b", `/\?a.*`}, texts: programtest.Words("ab=&?", 4), routes: true,
			request: func(text string) (policy.Request, bool) { return policy.Request{Path: "/" + text}, true },
		},
		{
			name: "claims", ordered: []*policy.Attribute{sub, groups}, named: []*policy.Attribute{sub, groups}, values: programtest.Words("ab", 2), regexes: []string{"a.*", "[ab]", ".+"},
			texts: programtest.Words("ab!", 5), request: func(text string) (policy.Request, bool) {
				r := policy.Request{Others: map[string][]string{}}
				// The first line is the subject, the others are groups.
				for i, line := range strings.Split(strings.TrimSuffix(text, "!"), "!") {
					switch {
					case i > 0:
						r.Others["claim groups[]"] = append(r.Others["claim groups[]"], line)
					case strings.HasSuffix(text, "!"):
						r.Others["claim sub"] = []string{line}
					}
				}
				return r, true
			},
		},
	}
}

func (w world) match(form policy.Form) *rapid.Generator[policy.Condition] {
	return rapid.Custom(func(t *rapid.T) policy.Condition {
		of := w.ordered
		if form == policy.Named {
			of = w.named
		}
		a := rapid.SampledFrom(of).Draw(t, "attribute")
		is := policy.Is{Attribute: a, Match: policy.Match{Kind: rapid.SampledFrom(a.Kinds).Draw(t, "kind")}}
		switch is.Match.Kind {
		case policy.Present:
		case policy.Regex:
			is.Match.Value = rapid.SampledFrom(w.regexes).Draw(t, "regex")
		case policy.Template:
			is.Match.Value = "/a*"
		default:
			is.Match.Value = rapid.SampledFrom(w.values).Draw(t, "value")
			is.Match.AnyCase = is.Match.Kind != policy.Segments && is.Match.Value != "" && rapid.IntRange(0, 4).Draw(t, "any case") == 0
		}
		return is
	})
}

func (w world) program() *rapid.Generator[policy.Program] {
	return rapid.Custom(func(t *rapid.T) policy.Program {
		var p policy.Program
		for range rapid.IntRange(1, 2).Draw(t, "gates") {
			g := policy.Gate{Layer: policy.L7, Form: rapid.SampledFrom([]policy.Form{policy.Ordered, policy.Named}).Draw(t, "form"), Default: policy.Verdict{Effect: policy.Allow}}
			leaf := w.match(g.Form)
			when := rapid.OneOf(leaf, leaf, rapid.Map(leaf, func(c policy.Condition) policy.Condition { return policy.Not{Condition: c} }),
				rapid.Map(rapid.SliceOfN(leaf, 2, 2), func(cs []policy.Condition) policy.Condition { return policy.And(cs) }),
				rapid.Map(rapid.SliceOfN(leaf, 2, 2), func(cs []policy.Condition) policy.Condition { return policy.And{cs[0], policy.Not{Condition: cs[1]}} }))
			for i := range rapid.IntRange(1, 3).Draw(t, "rules") {
				g.Rules = append(g.Rules, policy.Rule{Verdict: policy.Verdict{Origin: fmt.Sprint("rule-", i)}, When: when.Draw(t, "when")})
			}
			p.Gates = append(p.Gates, g)
		}
		if w.routes && rapid.Bool().Draw(t, "routed") {
			parameter := attribute.QueryParameter(rapid.SampledFrom([]string{"a", "b"}).Draw(t, "parameter")).Exact(rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "value"))
			p.Routes = []policy.Route{{Name: "route", When: parameter, Gates: p.Gates[:1]}}
		}
		return p
	})
}

// TestCoversByBruteForce asks for every request of a small world: each is in a class, and is
// decided as the witness of its class.
func TestCoversByBruteForce(t *testing.T) {
	t.Parallel()
	for _, w := range worlds() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			var all []policy.Request
			for _, text := range w.texts {
				if r, ok := w.request(text); ok {
					r.URIs, r.Method = []string{"spiffe://td/a"}, "GET"
					if r.Path == "" {
						r.Path = "/"
					}
					all = append(all, r)
				}
			}
			property.Check(t, func(t *rapid.T) {
				p := w.program().Draw(t, "program")
				if p.Check() != nil {
					return
				}
				cover := classes.Cut(classes.Surface{Protocol: policy.HTTP2}, p)
				if !cover.Complete() {
					t.Fatalf("%s\n%s", cover, p)
				}
				for _, r := range all {
					at, ok := cover.Locate(r)
					if !ok {
						t.Fatalf("%+v is in no class of %s: %v\n%s", r, cover, cover.Classes, p)
					}
					if got, want := policy.Decide(p, cover.Classes[at].Witness), policy.Decide(p, r); got != want {
						t.Fatalf("%+v is decided as %+v, and the witness of its class as %+v\n%s", r, want, got, p)
					}
				}
			})
		})
	}
}
