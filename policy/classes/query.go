package classes

import (
	"regexp"

	"github.com/meshproof/meshproof/internal/automaton"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// The query, its parameters and the header :path look at the value that the path looks at:
// where a program asks for one of them, the values are paths with queries.
var (
	_ = add(targetRow(attribute.Header(":path"), nil))
	_ = add(targetRow(attribute.Query, func(query *automaton.Language) *automaton.Language {
		return automaton.Parted(anyBytes(), '?', query, false)
	}))
	_ = addFamily("query-parameter", func(a *policy.Attribute) row { return targetRow(a, parameterWithin(a.Key)) })
)

func targetRow(a *policy.Attribute, within func(*automaton.Language) *automaton.Language) row {
	return row{
		attribute: a, rank: pathRow.rank, space: pathRow.space, usual: pathRow.usual, mixes: true, embed: within,
		pattern: func(m policy.Match) pattern { return pattern{text: a.Name + "=" + m.Value, kind: m.Kind} },
	}
}

// parameterWithin returns the paths whose first parameter of the name has a value of a
// language. A parameter without "=" has the empty value.
func parameterWithin(name string) func(*automaton.Language) *automaton.Language {
	return func(value *automaton.Language) *automaton.Language {
		quoted := regexp.QuoteMeta(name)
		others := language(`(.*&)?`, `(.*&)?`+quoted+`(=[^&]*)?&.*`)
		here := automaton.Parted(value, '&', anyBytes(), true)
		first := automaton.Following(language(quoted+"="), here)
		if value.Matches("") {
			first = automaton.AnyOf(first, language(quoted+`(&.*)?`))
		}
		return automaton.Parted(anyBytes(), '?', automaton.Following(others, first), false)
	}
}

// anyQuery are the queries that Envoy takes: a space, a fragment and control characters reach none.
const anyQuery = `[!"$-~\x80-\xff]*`

// withQueries adds a query to paths: a natural one, and each that a caller of the lab can send, or any caller where that is asked for.
func withQueries(paths []*automaton.Language, anyText bool) (out []*automaton.Language) {
	all := `[-a-zA-Z0-9._~/!$&'()*+,;=:@?%]*`
	if anyText {
		all = anyQuery
	}
	for i, query := range []string{`[a-z]+(=[a-z0-9]+)?`, all} {
		out = append(out, automaton.Parted(paths[i], '?', language(query), true))
	}
	return out
}
