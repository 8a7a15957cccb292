package draw

import (
	"slices"

	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// The values of requests that [Leaf] asks for. All of them can be sent.
var (
	Queries = []string{"", "?", "?a=/b", "?a", "?a=1&b=2", "?b=2&a=", "?debug=1&a=1"}
	Hosts   = []string{"a.example", "A.example", "a.example:8080", "axexample", "a.example.evil", "b.a.example", "b"}
	Lines   = []string{"a", "b", "A", "ab", "a,b", "", "a b"}
)

// texts are matches of texts, by the attributes that have them. A header that Envoy joins has
// them in both forms.
var texts = []struct {
	attribute *policy.Attribute
	values    []string
	regexes   []string
}{
	{attribute.Identity, Identities, []string{`.*/sa/x`}},
	{attribute.URISAN, Identities, []string{`.*/sa/x`}},
	{attribute.DNSSAN, Names[1:], []string{`[ab]\.example`}},
	{attribute.SNI, Names[1:], []string{`[ab]\.example`, ".*"}},
	{attribute.Method, []string{"GET", "P", "ST", "get"}, []string{"P(OST|UT)"}},
	{attribute.Path, append([]string{"/b", ".json"}, Paths...), []string{"/a(/.*)?"}},
	{attribute.Header(":path"), []string{"/a", "/a?", "/a?a=1", "=1"}, []string{`/a\?.*`}},
	{attribute.Query, []string{"", "a", "a=1", "b=2"}, nil},
	{attribute.Host, Hosts, []string{`a\.example(:[0-9]+)?`}},
	{attribute.Header("x-role"), Lines, []string{"a.*", "[ab]"}},
	{attribute.Header("x-role").Joined, append([]string{"a,b", ",b"}, Lines...), []string{"(.*,)?a(,.*)?"}},
	{attribute.Header("origin"), Lines, []string{"(.*,)?a(,.*)?"}},
	{attribute.Claim("sub"), []string{"alice", "a", ""}, []string{"a.*"}},
	{attribute.Claim("groups", "[]"), []string{"dev", "ops"}, []string{"(dev|ops)"}},
	{attribute.Claim("level", "#"), []string{"7", "true", "null"}, nil},
	{attribute.Claim("groups", "[#]"), []string{"7", "false"}, nil},
	{attribute.Claim("groups", "?"), nil, nil},
	{attribute.Claim("level", "?"), nil, nil},
}

// Leaf draws one of the leaves.
func Leaf(layer policy.Layer, form policy.Form) *rapid.Generator[policy.Condition] {
	return rapid.SampledFrom(Leaves(layer, form))
}

// Leaves returns matches of all attributes that a gate of the form shows on the layer, of each
// kind that the form can say.
func Leaves(layer policy.Layer, form policy.Form) (all []policy.Condition) {
	add := func(is policy.Is) {
		gate := policy.Gate{Layer: layer, Form: form, Rules: []policy.Rule{{When: is, Verdict: policy.Verdict{Effect: policy.Allow, Origin: "x"}}}}
		// A matcher looks at the path by whole segments.
		ofPath := is.Attribute == attribute.Path && form == policy.Ordered && (is.Match.AnyCase || is.Match.Kind > policy.Segments)
		if !ofPath && (policy.Program{Gates: []policy.Gate{gate}}).Check() == nil {
			all = append(all, is)
		}
	}
	for _, of := range texts {
		for _, kind := range of.attribute.Kinds {
			values := of.values
			switch kind {
			case policy.Regex:
				values = of.regexes
			case policy.Present:
				values = []string{""}
			case policy.Range:
				values = []string{"[1,7)", "[7,inf)", "[-inf,7.5)"}
			case policy.Template:
				values = []string{"/a/*", "/a/**", "/*/b", "/{x=a/*}", "/**.json"}
			}
			for _, value := range values {
				// Envoy takes no empty prefix.
				if kind == policy.Prefix && value == "" {
					continue
				}
				add(match(of.attribute, kind, value))
			}
			if value := values[0]; !slices.Contains(of.attribute.Kinds, policy.Range) && kind < policy.Regex && kind != policy.Segments && value != "" {
				add(policy.Is{Attribute: of.attribute, Match: policy.Match{Kind: kind, Value: value, AnyCase: true}})
			}
		}
	}
	for _, is := range Endpoints {
		add(is)
	}
	return all
}

// Nested draws a leaf that may stand within any condition. In a named rule that is none which
// permissions alone can say: an or over a permission and a principal is no policy of Envoy.
func Nested(layer policy.Layer, form policy.Form) *rapid.Generator[policy.Condition] {
	return Leaf(layer, form).Filter(func(c policy.Condition) bool {
		is, _ := c.(policy.Is)
		return form == policy.Ordered || !slices.Contains([]*policy.Attribute{attribute.SNI, attribute.DestinationPort, attribute.DestinationAddress}, is.Attribute) && is.Match.Kind != policy.Template
	})
}

// Headers draws the lines of the headers that [Leaf] asks for: none, one, or several.
func Headers() *rapid.Generator[[]policy.Header] {
	line := rapid.Custom(func(t *rapid.T) policy.Header {
		return policy.Header{Name: rapid.SampledFrom([]string{"x-role", "x-role", "origin"}).Draw(t, "header"), Value: rapid.SampledFrom(append([]string{"a\xff"}, Lines...)).Draw(t, "line")}
	})
	return rapid.SliceOfN(line, 0, 3)
}

// Claims draws the claims that [Leaf] asks for, as a verified token has them.
func Claims() *rapid.Generator[map[string][]string] {
	return rapid.Custom(func(t *rapid.T) map[string][]string {
		if rapid.IntRange(0, 2).Draw(t, "token") == 0 {
			return nil
		}
		out := map[string][]string{}
		if sub := rapid.SampledFrom([]string{"none", "alice", "a", ""}).Draw(t, "sub"); sub != "none" {
			out["claim sub"] = []string{sub}
		}
		if level := rapid.SampledFrom([]string{"", "7", "7.25", "0", "-1", "true", "null"}).Draw(t, "level"); level != "" {
			out["claim level#"] = []string{level}
		}
		if numbers := rapid.SliceOfN(rapid.SampledFrom([]string{"7", "6", "false", "1"}), 0, 2).Draw(t, "numbers"); len(numbers) > 0 {
			out["claim groups[#]"] = numbers
		}
		if groups := rapid.SliceOfN(rapid.SampledFrom([]string{"dev", "ops", "x"}), 0, 2).Draw(t, "groups"); len(groups) > 0 {
			out["claim groups[]"] = groups
		}
		return out
	})
}
