package xds

import (
	"fmt"

	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	envoymatcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"

	"github.com/meshproof/meshproof/policy"
)

// compileNamed turns a gate of named rules into an envoy.config.rbac.v3.RBAC with
// action ALLOW: one policy for each name, its rules the policy's principals. A
// gate without rules is an RBAC without policies, which denies everybody.
func compileNamed(gate policy.Gate) (*rbacv3.RBAC, error) {
	out := &rbacv3.RBAC{Action: rbacv3.RBAC_ALLOW, Policies: map[string]*rbacv3.Policy{}}
	for i, rule := range gate.Rules {
		if err := checkOrigin(rule.Origin); err != nil {
			return nil, fmt.Errorf("xds: compile: rule %d: %w", i, err)
		}
		when := simplify(rule.When)
		if when == policy.Never {
			continue
		}
		if err := checkText(when); err != nil {
			return nil, fmt.Errorf("xds: compile: rule %d: %w", i, err)
		}
		named := out.Policies[rule.Origin]
		if named == nil {
			named = &rbacv3.Policy{Permissions: []*rbacv3.Permission{{Rule: &rbacv3.Permission_Any{Any: true}}}}
			out.Policies[rule.Origin] = named
		}
		named.Principals = append(named.Principals, alternatives(when)...)
	}
	return out, nil
}

// alternatives spells an Or at the top as several principals, of which one is
// enough.
func alternatives(c policy.Condition) []*rbacv3.Principal {
	if or, ok := c.(policy.Or); ok {
		return principals(or)
	}
	return []*rbacv3.Principal{principal(c)}
}

func principals(cs []policy.Condition) []*rbacv3.Principal {
	out := make([]*rbacv3.Principal, len(cs))
	for i, c := range cs {
		out[i] = principal(c)
	}
	return out
}

func principal(c policy.Condition) *rbacv3.Principal {
	switch c := c.(type) {
	case policy.Constant:
		return &rbacv3.Principal{Identifier: &rbacv3.Principal_Any{Any: true}}
	case policy.And:
		return &rbacv3.Principal{Identifier: &rbacv3.Principal_AndIds{AndIds: &rbacv3.Principal_Set{Ids: principals(c)}}}
	case policy.Or:
		return anyPrincipal(principals(c)...)
	case policy.Not:
		return &rbacv3.Principal{Identifier: &rbacv3.Principal_NotId{NotId: principal(c.Of)}}
	case policy.URI:
		return &rbacv3.Principal{Identifier: &rbacv3.Principal_Authenticated_{
			Authenticated: &rbacv3.Principal_Authenticated{PrincipalName: envoyString(policy.StringMatch(c))},
		}}
	case policy.Method:
		return &rbacv3.Principal{Identifier: &rbacv3.Principal_Header{Header: &routev3.HeaderMatcher{
			Name:                 ":method",
			HeaderMatchSpecifier: &routev3.HeaderMatcher_StringMatch{StringMatch: envoyString(policy.StringMatch{Value: string(c)})},
		}}}
	case policy.Path:
		return pathPrincipal(c)
	default:
		panic(fmt.Sprintf("xds: condition %T is none that a named rule can have", c))
	}
}

// pathPrincipal compares the path without its query, as PathMatcher does by
// itself; it leaves the end of a segment to its user.
func pathPrincipal(c policy.Path) *rbacv3.Principal {
	compare := func(m policy.StringMatch) *rbacv3.Principal {
		return &rbacv3.Principal{Identifier: &rbacv3.Principal_UrlPath{UrlPath: &envoymatcherv3.PathMatcher{
			Rule: &envoymatcherv3.PathMatcher_Path{Path: envoyString(m)},
		}}}
	}
	if c.Kind == policy.Exact {
		return compare(policy.StringMatch{Value: c.Value})
	}
	segment := c.Segment()
	return anyPrincipal(compare(policy.StringMatch{Value: segment}), compare(policy.StringMatch{Kind: policy.Prefix, Value: segment + "/"}))
}

func anyPrincipal(of ...*rbacv3.Principal) *rbacv3.Principal {
	return &rbacv3.Principal{Identifier: &rbacv3.Principal_OrIds{OrIds: &rbacv3.Principal_Set{Ids: of}}}
}

func envoyString(m policy.StringMatch) *envoymatcherv3.StringMatcher {
	if m.Kind == policy.Prefix {
		return &envoymatcherv3.StringMatcher{MatchPattern: &envoymatcherv3.StringMatcher_Prefix{Prefix: m.Value}}
	}
	return &envoymatcherv3.StringMatcher{MatchPattern: &envoymatcherv3.StringMatcher_Exact{Exact: m.Value}}
}
