package rbac

import (
	"fmt"

	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	envoymatcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshproof/meshproof/internal/rewrite"
	"github.com/meshproof/meshproof/policy"
)

// actions are the actions of an RBAC, by what becomes of a request that none of its
// policies matches.
var actions = [...]rbacv3.RBAC_Action{policy.Deny: rbacv3.RBAC_ALLOW, policy.Allow: rbacv3.RBAC_DENY, policy.Log: rbacv3.RBAC_LOG}

// Named turns a gate of named rules into an envoy.config.rbac.v3.RBAC: one policy for
// each name, its rules the policy's principals. Without policies, an RBAC with the action
// ALLOW denies every request, and an RBAC with another action lets every request pass. It
// returns an error for a rule without an origin and for a condition that a principal
// cannot say.
func Named(gate policy.Gate) (*rbacv3.RBAC, error) {
	out := &rbacv3.RBAC{Action: actions[gate.Default.Effect], Policies: map[string]*rbacv3.Policy{}}
	for i, rule := range gate.Rules {
		if err := checkOrigin(rule.Origin); err != nil {
			return nil, fmt.Errorf("rule %d: %w", i, err)
		}
		if err := checkPrefixes(rule); err != nil {
			return nil, err
		}
		when := simplify(rule.When)
		if when == policy.Never {
			continue
		}
		if err := check(when, policy.Named); err != nil {
			return nil, fmt.Errorf("rule %d: %w", i, err)
		}
		permission, principals, err := split(when)
		if err != nil {
			return nil, fmt.Errorf("rule %d: %w", i, err)
		}
		named := out.Policies[rule.Origin]
		if named == nil {
			named = &rbacv3.Policy{Permissions: []*rbacv3.Permission{permission}}
			out.Policies[rule.Origin] = named
		} else if !proto.Equal(named.Permissions[0], permission) {
			return nil, fmt.Errorf("rule %d: another rule of the name %q asks for other permissions: an RBAC policy has one set of them", i, rule.Origin)
		}
		named.Principals = append(named.Principals, principals...)
	}
	return out, nil
}

// checkPrefixes refuses what StringMatcher does not take: a name that begins with
// nothing. A rule for every name says so with a constant.
func checkPrefixes(rule policy.Rule) error {
	for c := range policy.Walk(rule.When) {
		is, ok := c.(policy.Is)
		if ok && is.Match == (policy.Match{Kind: policy.Prefix}) && simplify(is) != policy.Always {
			return fmt.Errorf("rule %s: condition %q compares a name with an empty prefix", rule.Verdict, rule.When)
		}
	}
	return nil
}

// split returns the part of a condition that permissions ask for, and the part that
// principals ask for: an RBAC policy is the And of the two. What both can ask for is a
// principal, unless something that only a permission can ask for stands beside it. It returns
// an error where one part of an And needs both.
func split(c policy.Condition) (*rbacv3.Permission, []*rbacv3.Principal, error) {
	parts, ok := c.(policy.And)
	if !ok {
		parts = policy.And{c}
	}
	var permitted, named policy.And
	for _, part := range parts {
		asPrincipal, asPermission := true, true
		for c := range policy.Walk(part) {
			if is, ok := c.(policy.Is); ok {
				r := rowOf(is.Attribute)
				asPrincipal = asPrincipal && r.isPrincipal(is.Match)
				asPermission = asPermission && r.permission != nil
			}
		}
		switch {
		case asPrincipal:
			named = append(named, part)
		case asPermission:
			permitted = append(permitted, part)
		default:
			return nil, nil, fmt.Errorf("condition %q: no named rule can ask Envoy for it, since one part of it is a permission and another a principal", part)
		}
	}
	return rewrite.Condition(simpleList(permitted, policy.Always), permissionShape), alternatives(simpleList(named, policy.Always)), nil
}

// permissionShape compiles a condition whose leaves are permissions.
var permissionShape = rewrite.Shape[*rbacv3.Permission]{
	And: func(of []*rbacv3.Permission) *rbacv3.Permission {
		return &rbacv3.Permission{Rule: &rbacv3.Permission_AndRules{AndRules: &rbacv3.Permission_Set{Rules: of}}}
	},
	Or: func(of []*rbacv3.Permission) *rbacv3.Permission {
		return &rbacv3.Permission{Rule: &rbacv3.Permission_OrRules{OrRules: &rbacv3.Permission_Set{Rules: of}}}
	},
	Not: func(of *rbacv3.Permission) *rbacv3.Permission {
		return &rbacv3.Permission{Rule: &rbacv3.Permission_NotRule{NotRule: of}}
	},
	Leaf: func(c policy.Condition) *rbacv3.Permission {
		is, ok := c.(policy.Is)
		if !ok {
			return &rbacv3.Permission{Rule: &rbacv3.Permission_Any{Any: true}}
		}
		return rowOf(is.Attribute).permission(is.Match)
	},
}

// alternatives spells an Or at the top as several principals; one of them is enough.
func alternatives(c policy.Condition) []*rbacv3.Principal {
	whole := rewrite.Condition(c, principalShape)
	if _, ok := c.(policy.Or); ok {
		return whole.GetOrIds().GetIds()
	}
	return []*rbacv3.Principal{whole}
}

// principalShape compiles a condition that [simplify] and [check] went over.
var principalShape = rewrite.Shape[*rbacv3.Principal]{
	And: func(of []*rbacv3.Principal) *rbacv3.Principal {
		return &rbacv3.Principal{Identifier: &rbacv3.Principal_AndIds{AndIds: &rbacv3.Principal_Set{Ids: of}}}
	},
	Or: func(of []*rbacv3.Principal) *rbacv3.Principal { return anyPrincipal(of...) },
	Not: func(of *rbacv3.Principal) *rbacv3.Principal {
		return &rbacv3.Principal{Identifier: &rbacv3.Principal_NotId{NotId: of}}
	},
	Leaf: func(c policy.Condition) *rbacv3.Principal {
		is, ok := c.(policy.Is)
		if !ok {
			return &rbacv3.Principal{Identifier: &rbacv3.Principal_Any{Any: true}}
		}
		return rowOf(is.Attribute).principal(is.Match)
	},
}

func anyPrincipal(of ...*rbacv3.Principal) *rbacv3.Principal {
	return &rbacv3.Principal{Identifier: &rbacv3.Principal_OrIds{OrIds: &rbacv3.Principal_Set{Ids: of}}}
}

func envoyString(m policy.Match) *envoymatcherv3.StringMatcher {
	out := &envoymatcherv3.StringMatcher{IgnoreCase: m.AnyCase}
	switch m.Kind {
	case policy.Prefix:
		out.MatchPattern = &envoymatcherv3.StringMatcher_Prefix{Prefix: m.Value}
	case policy.Suffix:
		out.MatchPattern = &envoymatcherv3.StringMatcher_Suffix{Suffix: m.Value}
	case policy.Contains:
		out.MatchPattern = &envoymatcherv3.StringMatcher_Contains{Contains: m.Value}
	case policy.Regex:
		out.MatchPattern = &envoymatcherv3.StringMatcher_SafeRegex{SafeRegex: &envoymatcherv3.RegexMatcher{Regex: m.Value}}
	default:
		out.MatchPattern = &envoymatcherv3.StringMatcher_Exact{Exact: m.Value}
	}
	return out
}

// simplify returns a condition of the same meaning without constants inside and without
// lists of one: Envoy refuses an or_matcher or and_matcher with less than two
// predicates, and an empty prefix. The result is [policy.Always], [policy.Never], or
// free of both. A condition that is simple already, as most are, is returned as it is.
func simplify(c policy.Condition) policy.Condition {
	if isSimple(c) {
		return c
	}
	return rewrite.Condition(c, simpleShape)
}

// isSimple reports whether [simplify] would change nothing.
func isSimple(c policy.Condition) bool {
	switch c := c.(type) {
	case policy.And:
		return len(c) > 1 && areSimple(c)
	case policy.Or:
		return len(c) > 1 && areSimple(c)
	case policy.Not:
		return isSimple(c.Condition)
	case policy.Is:
		_, constant := simpleLeaf(c).(policy.Constant)
		return !constant
	default:
		return false
	}
}

func areSimple(cs []policy.Condition) bool {
	for _, c := range cs {
		if !isSimple(c) {
			return false
		}
	}
	return true
}

var simpleShape = rewrite.Shape[policy.Condition]{
	And: func(of []policy.Condition) policy.Condition { return simpleList(of, policy.Always) },
	Or:  func(of []policy.Condition) policy.Condition { return simpleList(of, policy.Never) },
	Not: func(of policy.Condition) policy.Condition {
		if constant, ok := of.(policy.Constant); ok {
			return !constant
		}
		return policy.Not{Condition: of}
	},
	Leaf: simpleLeaf,
}

// simpleLeaf finds the matches that always or never hold. Where a request may have no
// value of the attribute, an empty prefix of it stays.
func simpleLeaf(c policy.Condition) policy.Condition {
	is, ok := c.(policy.Is)
	if !ok || is.Attribute == nil {
		return c
	}
	switch r := rowOf(is.Attribute); {
	case is.Match.Kind == policy.Segments && is.Match.Segment() == "":
		return policy.Always
	case is.Match == (policy.Match{Kind: policy.Prefix}) && is.Attribute.Always:
		return policy.Always
	case r != nil && r.never != nil && r.never(is.Match):
		return policy.Never
	default:
		return c
	}
}

// simpleList drops the neutral constant of an And (always) or an Or (never). The
// opposite constant decides the list. It reuses the memory of the list.
func simpleList(cs []policy.Condition, neutral policy.Constant) policy.Condition {
	kept := cs[:0]
	for _, c := range cs {
		switch constant, ok := c.(policy.Constant); {
		case !ok:
			kept = append(kept, c)
		case constant != neutral:
			return constant
		}
	}
	switch {
	case len(kept) == 0:
		return neutral
	case len(kept) == 1:
		return kept[0]
	case neutral == policy.Always:
		return policy.And(kept)
	default:
		return policy.Or(kept)
	}
}
