package virtualhost

import (
	"regexp/syntax"
	"slices"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
)

// TakesAnyTarget reports whether a route may take a request whose target does not begin with
// a slash, as OPTIONS * has.
func TakesAnyTarget(m *routev3.RouteMatch) bool {
	slashed := func(path string) bool { return strings.HasPrefix(path, "/") }
	switch by := m.GetPathSpecifier().(type) {
	case *routev3.RouteMatch_Prefix:
		return !slashed(by.Prefix)
	case *routev3.RouteMatch_Path:
		return !slashed(by.Path)
	case *routev3.RouteMatch_PathSeparatedPrefix:
		return !slashed(by.PathSeparatedPrefix)
	case *routev3.RouteMatch_SafeRegex:
		expression, err := syntax.Parse(by.SafeRegex.GetRegex(), syntax.Perl)
		return err != nil || !beginsWithSlash(expression.Simplify())
	default:
		// A template begins with a slash. CONNECT is told elsewhere.
		return m.GetPathMatchPolicy() == nil && m.GetConnectMatcher() == nil
	}
}

// beginsWithSlash reports whether all that an expression matches begins with a slash, as far as
// its first part tells.
func beginsWithSlash(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral:
		return re.Rune[0] == '/'
	case syntax.OpCapture, syntax.OpPlus:
		return beginsWithSlash(re.Sub[0])
	case syntax.OpAlternate:
		return !slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return !beginsWithSlash(sub) })
	case syntax.OpConcat:
		i := slices.IndexFunc(re.Sub, func(sub *syntax.Regexp) bool { return sub.Op != syntax.OpBeginText && sub.Op != syntax.OpBeginLine })
		return i >= 0 && beginsWithSlash(re.Sub[i])
	default:
		return false
	}
}
