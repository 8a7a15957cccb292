// Package lint warns of MeshTrafficPermissions that are legal but may not do what
// their author means.
//
// It guarantees that a warning names file, line and field, and that a rule without
// any effect on the given inbounds has a warning. It changes no decision.
package lint

import (
	"regexp"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/servername"
	"github.com/meshproof/meshproof/internal/warning"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/kuma/internal/resource"
	"github.com/meshproof/meshproof/policy/kuma/internal/selection"
)

// Lint warns, in the order of ps, of rules without effect, prefixes that reach
// neighbours, paths that no request has, allows that denies take on every inbound,
// policies that apply to no inbound, and of the [BlindSpots] of each inbound.
func Lint(ps []permission.Policy, inbounds []policy.Inbound, opts permission.Options) []policy.Warning {
	order := make(map[string]int, len(ps))
	var out []policy.Warning
	for i := range ps {
		order[ps[i].Origin] = i
		out = append(out, lintRole(&ps[i], opts)...)
		out = append(out, lintEffect(&ps[i])...)
		out = append(out, lintMatchers(&ps[i])...)
	}
	s := newSurvey(opts)
	index := selection.NewIndex(ps)
	for _, in := range inbounds {
		sel := selection.Select(index.Candidates(in), in, opts)
		out = append(out, BlindSpots(sel.Policies, in)...)
		s.add(sel, in)
	}
	out = append(out, s.hiddenWarnings()...)
	out = append(out, s.idleWarnings(ps)...)
	slices.SortStableFunc(out, func(a, b policy.Warning) int { return order[a.Policy] - order[b.Policy] })
	return out
}

// lintRole warns of a role that does not stay.
func lintRole(p *permission.Policy, opts permission.Options) []policy.Warning {
	reason := p.OverwrittenRole(opts.ControlPlaneNamespace(), resource.RoleOwner)
	if reason == "" {
		return nil
	}
	return []policy.Warning{p.Warn(warning.StatedRole, p.LabelRoleField(), "%s", reason)}
}

// Overwritten says of each policy that a control plane writes over the role that it states.
func Overwritten(ps []permission.Policy, opts permission.Options) (out []string) {
	for i := range ps {
		for _, w := range lintRole(&ps[i], opts) {
			out = append(out, w.Place+": "+w.Policy+": "+w.Message)
		}
	}
	return out
}

// lintEffect warns of rules and lists without effect.
func lintEffect(p *permission.Policy) []policy.Warning {
	if p.IsFrom() {
		return lintFrom(p)
	}
	if len(p.Rules) == 0 {
		return []policy.Warning{p.Warn(warning.NoRules, "spec", "%s %s has no rules: it has no effect", permission.KindName, p.ID.Name)}
	}
	var out []policy.Warning
	for _, r := range p.Rules {
		if r.Form == permission.FormConditions {
			out = append(out, lintConditions(p, r)...)
			continue
		}
		if len(r.Lists[permission.Deny])+len(r.Lists[permission.AllowWithShadowDeny])+len(r.Lists[permission.Allow]) == 0 {
			out = append(out, p.Warn(warning.EmptyList, r.Field, "no list has a matcher: the rule has no effect"))
			continue
		}
		for l := range r.Lists {
			if r.Written[l] && len(r.Lists[l]) == 0 {
				out = append(out, p.Warn(warning.EmptyList, r.Field+"."+permission.List(l).String(), "the list is empty: it has no effect"))
			}
		}
	}
	return out
}

func lintMatchers(p *permission.Policy) []policy.Warning {
	var out []policy.Warning
	for _, r := range p.Rules {
		for l, matchers := range r.Lists {
			for _, m := range matchers {
				out = append(out, lintPrefix(p, permission.List(l), m)...)
				out = append(out, lintNamespace(p, permission.List(l), m)...)
				out = append(out, lintSNI(p, permission.List(l), m)...)
				out = append(out, lintPath(p, m)...)
			}
		}
	}
	return out
}

// lintConditions warns of a rule of Option 3 that applies to no request, or to
// every request.
func lintConditions(p *permission.Policy, r permission.Rule) []policy.Warning {
	for l, matchers := range r.Lists {
		switch {
		case !r.Written[l]:
		case len(matchers) == 0:
			return []policy.Warning{p.Warn(warning.EmptyList, r.Field+".conditions", "the list is empty: the rule has no effect")}
		case matchers[0].When == policy.Always:
			return []policy.Warning{p.Warn(warning.RuleForEverybody, r.Field, "without conditions the rule applies to every request: its %s is for everybody", permission.List(l))}
		}
	}
	return nil
}

// BlindSpots warns of each matcher that asks for a path or a method on a tcp
// inbound, where neither can be seen.
func BlindSpots(ps []permission.Policy, in policy.Inbound) []policy.Warning {
	if in.Protocol.Layer() != policy.L4 {
		return nil
	}
	var out []policy.Warning
	for i := range ps {
		for _, r := range ps[i].Rules {
			for l, matchers := range r.Lists {
				for _, m := range matchers {
					if m.NeedsL7() {
						out = append(out, ps[i].Warn(warning.HTTPOnTCP, m.Field, "tcp inbound %s sees neither path nor method: %s", in, blindEffect(permission.List(l), m)))
					}
				}
			}
		}
	}
	return out
}

func blindEffect(l permission.List, m permission.Matcher) string {
	switch {
	case l == permission.Allow:
		return "there this allows nothing"
	case l == permission.AllowWithShadowDeny:
		return "there this allows nothing, and denies nothing in the shadow"
	case m.SNI != "":
		return "there this denies every request with the server name " + m.SNI + ofIdentity(m)
	case m.Identity == nil:
		return "there this denies everybody"
	default:
		return "there this denies every request of the identity"
	}
}

func ofIdentity(m permission.Matcher) string {
	if m.Identity == nil {
		return ""
	}
	return " of the identity"
}

// lintSNI warns of a deny that a caller can avoid, and of a name that no caller sends.
func lintSNI(p *permission.Policy, l permission.List, m permission.Matcher) []policy.Warning {
	switch {
	case m.SNI == "":
		return nil
	case servername.IsAddress(m.SNI):
		return []policy.Warning{p.Warn(warning.NeverMatches, m.Field+".sni", "%s is an address: a client sends no server name to an address, so that this never matches", m.SNI)}
	case l == permission.Deny:
		return []policy.Warning{p.Warn(warning.DenyByServerName, m.Field+".sni", "a caller can send another server name than %s, or none, and is not denied then: deny the identity, or allow by server name", m.SNI)}
	default:
		return nil
	}
}

// lintPrefix warns of an identity prefix that ends inside a name. Prefixes compare
// bytes, so that the prefix meets every name that begins with it.
func lintPrefix(p *permission.Policy, l permission.List, m permission.Matcher) []policy.Warning {
	if m.Identity == nil || m.Identity.Kind != policy.Prefix || strings.HasSuffix(m.Identity.Value, "/") {
		return nil
	}
	value, verb, remedy := m.Identity.Value, "admits", "write %s"
	if l == permission.Deny {
		verb, remedy = "denies", "if that may get in, write %s" // what is denied less may be let in
	}
	switch {
	case !strings.Contains(value[len(permission.Scheme):], "/"):
		return []policy.Warning{p.Warn(warning.PrefixInsideName, m.Field, "prefix %s breaks off inside a trust domain: it also %s the trust domain %s-evil; "+remedy, value, verb, value, value+"/")}
	case account.MatchString(value): // no identity is below an account
		return []policy.Warning{p.Warn(warning.PrefixInsideName, m.Field, "prefix %s does not end in a slash: it also %s %s-evil; "+remedy, value, verb, value, "Exact for this one identity")}
	default:
		return []policy.Warning{p.Warn(warning.PrefixInsideName, m.Field, "prefix %s does not end in a slash: it also %s %s-evil/...; "+remedy, value, verb, value, value+"/, or Exact for each identity: Kuma up to 2.14 refuses a slash at the end")}
	}
}

// lintNamespace warns of a whole identity that is none of an account, since it ends behind the namespace.
func lintNamespace(p *permission.Policy, l permission.List, m permission.Matcher) []policy.Warning {
	if m.Identity == nil || m.Identity.Kind != policy.Exact {
		return nil
	}
	found := namespace.FindStringSubmatch(m.Identity.Value)
	if found == nil {
		return nil
	}
	verb := "admits"
	if l == permission.Deny {
		verb = "denies"
	}
	return []policy.Warning{p.Warn(warning.NeverMatches, m.Field, "%s ends behind a namespace, and no service account has such an identity: it %s nobody; write %s/sa/ACCOUNT for each account, or a Prefix", m.Identity.Value, verb, found[1])}
}

// namespace is the identity of a service account without its end.
var namespace = regexp.MustCompile(`^(spiffe://[^/]+/ns/[^/]+)(?:/sa)?$`)

// account ends the identity of a service account.
var account = regexp.MustCompile(`/ns/[^/]+/sa/[^/]+$`)

// lintPath warns of a path that no request has by then, because the listener
// rewrites or refuses such requests first.
func lintPath(p *permission.Policy, m permission.Matcher) []policy.Warning {
	if m.Path == nil {
		return nil
	}
	value := m.Path.Value
	if m.Path.Kind == policy.Prefix {
		value = strings.TrimRight(value, "/") + "/"
	}
	switch seen, err := (policy.PathNormalization{}).Apply(value); {
	case err != nil:
		return []policy.Warning{p.Warn(warning.NeverMatches, m.Field+".path", "path %s never matches: by default the listener answers it with a 400", m.Path.Value)}
	case seen != value:
		return []policy.Warning{p.Warn(warning.NeverMatches, m.Field+".path", "path %s never matches: by default the listener turns it into %s first; write that", m.Path.Value, seen)}
	}
	return nil
}

// lintFrom warns of an empty list, and of each item whose clients are all named by
// a later item of the same list: the later item decides.
func lintFrom(p *permission.Policy) []policy.Warning {
	if len(p.From) == 0 {
		return []policy.Warning{p.Warn(warning.EmptyList, "spec.from", "the list is empty: the policy has no effect")}
	}
	var out []policy.Warning
	for i, item := range p.From {
		for k := len(p.From) - 1; k > i; k-- {
			if later := p.From[k]; coversItem(later, item) {
				out = append(out, p.Warn(warning.Overridden, item.Field, "decides about no caller: from[%d] comes later, wins, and names all of these clients", k))
				break
			}
		}
	}
	return out
}

// coversItem reports whether the item names every client that the other item names.
func coversItem(i, other permission.FromItem) bool {
	for _, tag := range i.Tags {
		if !slices.Contains(other.Tags, tag) {
			return false
		}
	}
	switch {
	case i.Service != "":
		return i.Service == other.Service && i.ServiceMesh == other.ServiceMesh
	case i.Mesh == "":
		return true
	case other.Service != "":
		return i.Mesh == other.ServiceMesh
	default:
		return i.Mesh == other.Mesh
	}
}
