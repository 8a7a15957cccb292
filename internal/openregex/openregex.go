// Package openregex finds the regular expressions of filters that releases of Envoy read in two
// ways.
//
// It guarantees that an expression which it does not name takes the same requests on all of
// them. It asks no Envoy; package behavior says how one reads.
package openregex

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"

	matcherv3 "github.com/cncf/xds/go/xds/type/matcher/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	networkinputsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/common_inputs/network/v3"
	envoymatcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/meshproof/meshproof/internal/behavior"
	"github.com/meshproof/meshproof/internal/messages"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

// Doubt says which expression of the filters an Envoy with this behaviour may read otherwise
// than a class of requests says; "" where there is none.
//
// Such an expression compares what callers write and takes more characters than those of
// ASCII. An Envoy without the fix of CVE-2026-73552 reads none of them in a byte that is no
// UTF-8: /admin.* does not match the path "/admin\xff", which HTTP/2 lets callers send. No class
// has such a request. The names in a certificate are ASCII. A path that is normalized is ASCII
// too, without its query. Envoy answers no request whose method or host has another byte.
func Doubt(f xds.Filters, n policy.PathNormalization, envoy behavior.Set) string {
	found := find(f, !n.Raw)
	if found == "" || envoy.Fixed(behavior.RegexBytes) {
		return ""
	}
	return fmt.Sprintf("on this Envoy the regular expression %q does not match a byte that is no UTF-8, which callers can send", found)
}

// find returns the first such expression.
func find(f xds.Filters, normalized bool) (found string) {
	look := func(expression string) {
		if found == "" && isOpen(expression) {
			found = expression
		}
	}
	v := messages.Visitor{
		Closed: func(string, string, *messages.Path) {},
		Opened: func(string, []messages.Fault, *messages.Path) {},
		Message: func(m protoreflect.Message, _ *messages.Path) {
			switch m := m.Interface().(type) {
			case *routev3.HeaderMatcher:
				if !isASCII(m.GetName()) {
					look(m.GetStringMatch().GetSafeRegex().GetRegex())
				}
			case *matcherv3.Matcher_MatcherList_Predicate_SinglePredicate:
				in, _, _ := messages.Unpack(m.GetInput().GetTypedConfig())
				header, ofHeader := in.(*envoymatcherv3.HttpRequestHeaderMatchInput)
				_, ofServerName := in.(*networkinputsv3.ServerNameInput)
				if ofHeader && !isASCII(header.GetHeaderName()) || ofServerName {
					look(m.GetValueMatch().GetSafeRegex().GetRegex())
				}
			case *rbacv3.Permission:
				look(m.GetRequestedServerName().GetSafeRegex().GetRegex())
			case *routev3.QueryParameterMatcher:
				// The query of a path is never normalized.
				look(m.GetStringMatch().GetSafeRegex().GetRegex())
			case *envoymatcherv3.PathMatcher:
				if !normalized {
					look(m.GetPath().GetSafeRegex().GetRegex())
				}
			case *routev3.RouteMatch:
				if !normalized {
					look(m.GetSafeRegex().GetRegex())
				}
			}
		},
	}
	visit := func(m proto.Message) { v.Visit(m.ProtoReflect()) }
	for _, filter := range f.Network {
		visit(filter)
	}
	for _, filter := range f.HTTP {
		visit(filter)
	}
	for _, route := range f.Routes {
		visit(route.Match)
		for _, filter := range route.HTTP {
			visit(filter)
		}
	}
	return found
}

// isASCII reports whether the codec of Envoy refuses a request in which the header has another
// byte than those of ASCII, over HTTP/1.1 and over HTTP/2.
func isASCII(header string) bool {
	switch strings.ToLower(header) {
	case ":method", ":authority", "host":
		return true
	default:
		return false
	}
}

// isOpen reports whether a regular expression takes characters that are not ASCII.
func isOpen(expression string) bool {
	parsed, err := syntax.Parse(expression, syntax.Perl)
	return err != nil || takesMore(parsed)
}

func takesMore(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return true
	case syntax.OpLiteral:
		// In any case, k and s are letters beyond ASCII too.
		folds := re.Flags&syntax.FoldCase != 0
		return slices.ContainsFunc(re.Rune, func(r rune) bool {
			return r > unicode.MaxASCII || folds && (r|0x20 == 'k' || r|0x20 == 's')
		})
	case syntax.OpCharClass:
		return slices.ContainsFunc(re.Rune, func(r rune) bool { return r > unicode.MaxASCII })
	default:
		return slices.ContainsFunc(re.Sub, takesMore)
	}
}
