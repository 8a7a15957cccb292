package authorization

import (
	"iter"
	"strings"
	"unicode"

	"github.com/meshproof/meshproof/internal/rendering"
	"github.com/meshproof/meshproof/internal/warning"
	"github.com/meshproof/meshproof/policy"
)

// lintSpelling warns of a path that a rule keeps callers from by its exact name, where the same request gets in with
// a slash behind the path: many workloads answer both alike.
func (s survey) lintSpelling(p Policy, i int, selected []policy.Inbound) (out []policy.Warning) {
	for field, path := range p.refusedPaths(p.rules[i]) {
		if rendering.PlaceholderIn(path) != "" || s.options.rewritten(path) != "" {
			continue // no request has this path, and another warning says so
		}
		for _, in := range selected {
			if in.Protocol.Layer() == policy.L7 && in.Protocol != policy.GRPC && s.slashOpens(p.origin(i), path, in) {
				out = append(out, p.warn(warning.OtherSpelling, field,
					"Istio compares the whole path: on inbound %s a caller who may not send %s may send %s/, and many workloads answer both alike: add %s/*", in, path, path, path))
				break
			}
		}
	}
	return out
}

// refusedPaths yields each exact path that a rule keeps callers from: paths of a DENY and notPaths of an ALLOW. Paths with
// a dot are left out, names of files and methods of gRPC: with a slash behind them, few workloads answer.
func (p Policy) refusedPaths(r rule) iter.Seq2[string, string] {
	return func(yield func(field, path string) bool) {
		for t := range r.terms {
			if p.observes || t.subject.name != "paths" {
				continue
			}
			field, refused := p.refused(t)
			for i, path := range refused {
				if isExactPage(path) && !yield(item(field, i), path) {
					return
				}
			}
		}
	}
}

// isExactPage reports whether a value is the exact path of what may be a page: ASCII without a dot and without a slash at its end.
func isExactPage(path string) bool {
	return strings.HasPrefix(path, "/") && !strings.HasSuffix(path, "/") && !strings.ContainsFunc(path, func(r rune) bool { return r > unicode.MaxASCII || strings.ContainsRune("*{.?#", r) })
}

// slashOpens reports whether a request to a path is denied, gets in with a slash behind the path, and the rule is the reason: its
// DENY refuses the path alone, or its ALLOW lets in the path with the slash. All but the path of the request comes from a class.
func (s survey) slashOpens(origin, path string, in policy.Inbound) bool {
	known := s.lower(in)
	if countRules(known.program) > mostRules {
		return false
	}
	for _, class := range known.classes() {
		request := class.Witness
		request.Path = path
		before := policy.Decide(known.program, request)
		request.Path += "/"
		after := policy.Decide(known.program, request)
		if before.Effect != policy.Allow && after.Effect == policy.Allow && (before.Origin == origin || after.Origin == origin) {
			return true
		}
	}
	return false
}
