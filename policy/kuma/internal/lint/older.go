package lint

import (
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/kuma/internal/resource"
	"github.com/meshproof/meshproof/policy/kuma/internal/scope"
	"github.com/meshproof/meshproof/policy/kuma/internal/target"
)

// maxPairs bounds the search of [OlderOrder].
const maxPairs = 2_000_000

// OlderOrder says where Kuma 2.12 and 2.13 let in callers that the policies deny, with the first such deny. These releases ask rule by
// rule, the weakest policy first, so that an allow in front of a deny decides. No inbound is asked: the policies may have none in common.
func OlderOrder(ps []permission.Policy, opts permission.Options) []string {
	allows := placedMatchers(ps, opts, permission.Allow, permission.AllowWithShadowDeny)
	pairs := 0
	for _, deny := range placedMatchers(ps, opts, permission.Deny) {
		for _, allow := range allows {
			if pairs++; pairs > maxPairs {
				return nil
			}
			if allow.isBefore(&deny) && mayMeet(&allow.Matcher, &deny.Matcher) && mayShare(&allow, &deny) {
				return []string{fmt.Sprintf("%s: Kuma 2.12 and 2.13 ask the policies one by one, the weakest first: there the allow at %s comes before this deny, and lets in callers of both; 2.14 asks every deny first",
					deny.policy.Doc.Place(deny.Field), allow.policy.Doc.Place(allow.Field))}
			}
		}
	}
	return nil
}

// placedMatcher is a matcher with its policy, the role and the rank of that, and the index of its rule there.
type placedMatcher struct {
	permission.Matcher
	policy *permission.Policy
	role   string
	rank   scope.Rank
	rule   int
}

func placedMatchers(ps []permission.Policy, opts permission.Options, lists ...permission.List) (out []placedMatcher) {
	for i := range ps {
		p := &ps[i]
		role := p.Role(opts)
		rank := scope.Selector{Resource: &p.Resource, Target: &p.Target, Role: role}.Rank()
		for k, r := range p.Rules {
			for _, list := range lists {
				for _, m := range r.Lists[list] {
					out = append(out, placedMatcher{m, p, role, rank, k})
				}
			}
		}
	}
	return out
}

func (m *placedMatcher) isBefore(other *placedMatcher) bool {
	if m.policy == other.policy {
		return m.rule < other.rule
	}
	return m.rank.Compare(other.rank) < 0
}

// mayMeet reports whether one caller may meet both matchers.
func mayMeet(a, b *permission.Matcher) bool {
	if a.SNI != "" && b.SNI != "" && a.SNI != b.SNI {
		return false
	}
	return a.Identity == nil || b.Identity == nil || coversIdentity(*a.Identity, *b.Identity) || coversIdentity(*b.Identity, *a.Identity)
}

// mayShare reports whether the policies of both may apply to one inbound.
func mayShare(a, b *placedMatcher) bool {
	first, second := a.policy, b.policy
	isShadow := first.Labels[resource.LabelEffect] != "" || second.Labels[resource.LabelEffect] != ""
	if isShadow || first.ID.Mesh != second.ID.Mesh || a.role == resource.RoleOwner && b.role == resource.RoleOwner && first.ID.Namespace != second.ID.Namespace {
		return false
	}
	differ := func(x, y string) bool { return x != "" && y != "" && x != y }
	return !differ(first.Target.Name, second.Target.Name) && !differ(first.Target.Section, second.Target.Section) && !slices.ContainsFunc(first.Target.Labels, func(label target.Label) bool {
		return slices.ContainsFunc(second.Target.Labels, func(other target.Label) bool { return label.Key == other.Key && label.Value != other.Value })
	})
}
