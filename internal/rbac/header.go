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
	of: func(a *policy.Attribute) row {
		return row{
			since:      "1.36.4",
			principal:  func(m policy.Match) *rbacv3.Principal { return headerPrincipal(a.Key, m) },
			permission: func(m policy.Match) *rbacv3.Permission { return headerPermission(a.Key, m) },
		}
	},
	// No input of a matcher shows lines by themselves.
	shown: func(proto.Message) *policy.Attribute { return nil },
})

var _ = addFamily("joined-header", &family{
	of: func(a *policy.Attribute) row {
		in := inputOf(headerInput(a.Key))
		return row{since: "1.36.4", predicate: func(m policy.Match) *predicateProto {
			if m.Kind == policy.Present {
				m = policy.Match{Kind: policy.Regex, Value: AnyBytes}
			}
			return single(in, stringMatcher(m))
		}}
	},
	shown: func(input proto.Message) *policy.Attribute {
		if in, ok := input.(*envoymatcherv3.HttpRequestHeaderMatchInput); ok {
			return attribute.Header(in.HeaderName).Joined
		}
		return nil
	},
})

// The header :path as a whole. The input belongs to the row of the path.
var _ = add(row{
	attribute:  attribute.Header(":path"),
	since:      "1.36.4",
	predicate:  func(m policy.Match) *predicateProto { return single(pathInput, stringMatcher(m)) },
	principal:  func(m policy.Match) *rbacv3.Principal { return headerPrincipal(":path", m) },
	permission: func(m policy.Match) *rbacv3.Permission { return headerPermission(":path", m) },
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
