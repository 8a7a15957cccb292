package rbac

import (
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	envoymatcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

var _ = addFamily("header", &family{
	row: func(a *policy.Attribute) row {
		r := row{
			since:      "1.36.4",
			principal:  func(m policy.Match) *rbacv3.Principal { return headerPrincipal(a.Key, m) },
			permission: func(m policy.Match) *rbacv3.Permission { return headerPermission(a.Key, m) },
			route: func(route *routev3.RouteMatch, m policy.Match) {
				route.Headers = append(route.Headers, headerMatcher(a.Key, m))
			},
		}
		if a.Text != nil {
			r.predicate = joinedPredicate(a.Key)
		}
		return r
	},
	shown: func(input proto.Message) *policy.Attribute {
		in, ok := input.(*envoymatcherv3.HttpRequestHeaderMatchInput)
		switch {
		case !ok:
			return nil
		case attribute.Header(in.HeaderName).Joined != nil:
			return attribute.Header(in.HeaderName).Joined
		default:
			return attribute.Header(in.HeaderName)
		}
	},
})

var _ = addFamily("joined-header", &family{
	row: func(a *policy.Attribute) row {
		return row{since: "1.36.4", predicate: joinedPredicate(a.Key)}
	},
	// The family above shows both.
	shown: func(proto.Message) *policy.Attribute { return nil },
})

// joinedPredicate asks the input, which joins the lines of a header.
func joinedPredicate(name string) func(policy.Match) *predicateProto {
	in := inputOf(headerInput(name))
	return func(m policy.Match) *predicateProto { return single(in, stringMatcher(m)) }
}

// The header :path as a whole. The input belongs to the row of the path.
var _ = add(row{
	attribute:  attribute.Header(":path"),
	since:      "1.36.4",
	predicate:  func(m policy.Match) *predicateProto { return single(pathInput, stringMatcher(m)) },
	principal:  func(m policy.Match) *rbacv3.Principal { return headerPrincipal(":path", m) },
	permission: func(m policy.Match) *rbacv3.Permission { return headerPermission(":path", m) },
	route: func(route *routev3.RouteMatch, m policy.Match) {
		route.Headers = append(route.Headers, headerMatcher(":path", m))
	},
})

// AnyBytes is the regular expression that takes every text, one that is no UTF-8 too: a
// matcher has no other question for presence.
const AnyBytes = `\C*`

func headerInput(name string) *envoymatcherv3.HttpRequestHeaderMatchInput {
	return &envoymatcherv3.HttpRequestHeaderMatchInput{HeaderName: name}
}

func headerPrincipal(name string, m policy.Match) *rbacv3.Principal {
	return &rbacv3.Principal{Identifier: &rbacv3.Principal_Header{Header: headerMatcher(name, m)}}
}

func headerPermission(name string, m policy.Match) *rbacv3.Permission {
	return &rbacv3.Permission{Rule: &rbacv3.Permission_Header{Header: headerMatcher(name, m)}}
}

func headerMatcher(name string, m policy.Match) *routev3.HeaderMatcher {
	if m.Kind == policy.Present {
		return &routev3.HeaderMatcher{Name: name, HeaderMatchSpecifier: &routev3.HeaderMatcher_PresentMatch{PresentMatch: true}}
	}
	return &routev3.HeaderMatcher{Name: name, HeaderMatchSpecifier: &routev3.HeaderMatcher_StringMatch{StringMatch: envoyString(m)}}
}
