package attribute

import (
	"strings"
	"unicode/utf8"

	"github.com/meshproof/meshproof/policy"
)

// Query is what stands behind the first "?" of the path, byte for byte: Envoy decodes
// nothing. A request without a "?" has none. Envoy has no input and no message for it. A
// gate asks for it by a regular expression on the header :path. So nothing matches the query
// of a path with a byte that is no UTF-8 where the Envoy that judges reads expressions as
// UTF-8, see [policy.Request.UTF8].
var Query = add(&policy.Attribute{
	Name:   "query",
	Phrase: "query",
	Layer:  policy.L7,
	Text:   query,
	Kinds:  []policy.MatchKind{policy.Exact, policy.Prefix, policy.Suffix, policy.Contains, policy.Present},
	Forms:  []policy.Form{policy.Ordered, policy.Named},
})

func query(r *policy.Request) (string, bool) {
	_, query, ok := strings.Cut(r.Path, "?")
	return query, ok && !(r.UTF8 && !utf8.ValidString(r.Path))
}

// QueryParameter returns the first value of a parameter of the query, byte for byte. A
// parameter without "=" has the empty value. Only a route can ask for it, by
// envoy.config.route.v3.QueryParameterMatcher: both RBAC filters refuse
// envoy.type.matcher.v3.HttpRequestQueryParamMatchInput, and no permission and no principal
// shows a parameter.
func QueryParameter(name string) *policy.Attribute { return parameters.attribute(name) }

var parameters = addFamily("query-parameter", "id", func(name string) *policy.Attribute {
	return &policy.Attribute{
		Phrase: "query parameter " + name,
		Layer:  policy.L7,
		Text: func(r *policy.Request) (string, bool) {
			_, query, _ := strings.Cut(r.Path, "?")
			for parameter := range strings.SplitSeq(query, "&") {
				if key, value, _ := strings.Cut(parameter, "="); key == name {
					return value, true
				}
			}
			return "", false
		},
		Kinds:    []policy.MatchKind{policy.Exact, policy.Regex},
		Routable: true,
	}
})
