package lift

import (
	"strings"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// withQuery says why a comparison of the path cannot be said.
const withQuery = "it compares the path together with its query"

// paths returns the Or of comparisons of the path, all of them raw or none. A policy
// compares whole segments without the query. Package xds writes several comparisons for
// that, and paths finds them again.
func (t *translator) paths(of []*comparison, raw bool) reading {
	set := pathSet{raw: raw, has: map[policy.Match]bool{}}
	for _, c := range of {
		for _, a := range c.alternatives {
			if !a.longer && c.reason == "" {
				set.has[a.Match] = true
			}
		}
	}
	var out []reading
	for _, c := range of {
		out = append(out, t.each(c.text, c.path, func(a alternative) reading {
			when, reason := set.condition(a)
			if reason != "" {
				t.lost.add(c.path, reason)
				return partly(when)
			}
			return exactly(when)
		}))
	}
	return distinct(anyOf(out))
}

// pathSet has the comparisons of one Or.
type pathSet struct {
	raw bool
	has map[policy.Match]bool
}

// condition returns what a comparison says together with the others of its set. All
// comparisons that make up one condition return that condition. The reason says why the
// condition is only close.
func (s pathSet) condition(a alternative) (policy.Condition, string) {
	path, _, query := strings.Cut(a.Value, "?")
	is := policy.Is{Attribute: attribute.Path, Match: a.Match}
	switch {
	case a.AnyCase && a.Kind == policy.Prefix && a.Value == path && !a.longer:
		return is, ""
	case a.AnyCase && a.longer:
		return is, "it compares without regard to case, and asks for more than a beginning"
	case a.AnyCase, a.Kind == policy.Suffix, a.Kind == policy.Contains, a.Kind == policy.Regex:
		if s.raw {
			return wholePath(a), ""
		}
		return is, ""
	case query && !s.raw:
		return policy.Never, ""
	case a.Kind == policy.Exact:
		if when, reason := s.exactly(path, query); reason == "" || a.longer {
			return when, reason
		}
		return wholePath(a), ""
	case query && a.Value == path+"?" && !a.longer && s.hasExact(path):
		return s.exactly(path, false)
	case query && !a.longer:
		return wholePath(a), ""
	case query:
		return attribute.Path.Exact(path), withQuery
	case a.longer && a.Value != "" && s.raw:
		return attribute.Path.Segments(path), withQuery
	case path == "" || path == "/" && !a.longer:
		return policy.Always, ""
	}
	segment, whole := strings.CutSuffix(path, "/")
	switch {
	case path == "/":
		return policy.Not{Condition: attribute.Path.Exact(path)}, ""
	case a.longer && (!whole || strings.HasSuffix(segment, "/")):
		return policy.And{attribute.Path.Prefix(path), policy.Not{Condition: attribute.Path.Exact(path)}}, ""
	case !whole || strings.HasSuffix(segment, "/"):
		return attribute.Path.Prefix(path), ""
	case !a.longer && s.hasExact(segment) && (!s.raw || s.has[policy.Match{Kind: policy.Prefix, Value: segment + "?"}]):
		return attribute.Path.Segments(segment), ""
	}
	// A route can ask for a beginning, and not for what is no path.
	if !a.longer {
		return attribute.Path.Prefix(path), ""
	}
	return policy.And{attribute.Path.Segments(segment), policy.Not{Condition: attribute.Path.Exact(segment)}, policy.Not{Condition: attribute.Path.Exact(path)}}, ""
}

// wholePath returns the comparison of the path together with its query.
func wholePath(a alternative) policy.Condition {
	return policy.Is{Attribute: attribute.Header(":path"), Match: a.Match}
}

func (s pathSet) hasExact(path string) bool { return s.has[policy.Match{Value: path}] }

func (s pathSet) exactly(path string, query bool) (policy.Condition, string) {
	switch {
	case query || s.raw && !s.has[policy.Match{Kind: policy.Prefix, Value: path + "?"}]:
		return attribute.Path.Exact(path), withQuery
	case !strings.HasSuffix(path, "/") && s.has[policy.Match{Kind: policy.Prefix, Value: path + "/"}]:
		return attribute.Path.Segments(path), ""
	default:
		return attribute.Path.Exact(path), ""
	}
}

// distinct drops repeated paths of an Or.
func distinct(r reading) reading {
	or, ok := r.when.(policy.Or)
	if !ok {
		return r
	}
	seen := map[policy.Is]bool{}
	kept := make([]reading, 0, len(or))
	for _, of := range or {
		is, ok := of.(policy.Is)
		ok = ok && is.Attribute == attribute.Path
		if !ok || !seen[is] {
			kept = append(kept, exactly(of))
		}
		seen[is] = seen[is] || ok
	}
	return reading{when: anyOf(kept).when, complete: r.complete}
}
