package evaluation

import (
	"cmp"
	"strings"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/kuma/internal/selection"
)

// Evaluate judges one request straight from the text of the policies.
func Evaluate(ps []permission.Policy, in policy.Inbound, opts permission.Options, r policy.Request) policy.Decision {
	e := evaluation{selected: selection.Select(ps, in, opts).Policies, tcp: in.Protocol == policy.TCP, peer: strings.Join(r.URIs, ","), method: r.Method}
	e.path, _, _ = strings.Cut(r.Path, "?")

	if (selection.Selection{Policies: e.selected}).IsFrom() {
		return e.evaluateFrom(in, opts, r)
	}
	if opts.Option == permission.Option3 {
		return e.byAction(in)
	}
	if opts.Option == permission.Option2 {
		e.name = "MeshTrafficPermission"
	}

	d := policy.Decision{Layer: in.Protocol.Layer()}
	refused := policy.Verdict{Effect: policy.Deny, Origin: "default"}
	denier := e.first(permission.Deny)
	d.Verdict = refused
	if denier != "" {
		d.Origin = denier
	} else if allower := e.first(permission.Allow, permission.AllowWithShadowDeny); allower != "" {
		d.Verdict = policy.Verdict{Effect: policy.Allow, Origin: allower}
	}

	if !e.shadows() {
		return d
	}
	d.Shadowed, d.Shadow = true, refused
	shadowDenier := e.first(permission.AllowWithShadowDeny)
	switch {
	case opts.ShadowForm == permission.Precise && denier != "":
		d.Shadow.Origin = denier
	case shadowDenier != "":
		d.Shadow.Origin = shadowDenier
	case opts.ShadowForm == permission.Precise:
		if allower := e.first(permission.Allow); allower != "" {
			d.Shadow = policy.Verdict{Effect: policy.Allow, Origin: allower}
		}
	}
	return d
}

// evaluation is one request and the policies that apply to it.
type evaluation struct {
	selected []permission.Policy
	tcp      bool
	peer     string
	method   string
	path     string
	// name is the origin of every verdict where it is set.
	name string
}

// first returns the origin of the first rule that has a matcher for the request in
// one of the lists, "" where there is none.
func (e evaluation) first(lists ...permission.List) string {
	for _, p := range e.selected {
		for _, r := range p.Rules {
			for _, l := range lists {
				for _, m := range r.Lists[l] {
					if e.meets(m, l) {
						return cmp.Or(e.name, p.ID.String())
					}
				}
			}
		}
	}
	return ""
}

// shadows reports whether there is an allowWithShadowDeny that can match on the inbound.
func (e evaluation) shadows() bool {
	for _, p := range e.selected {
		for _, r := range p.Rules {
			for _, m := range r.Lists[permission.AllowWithShadowDeny] {
				if !e.tcp || m.Path == nil && m.Method == "" {
					return true
				}
			}
		}
	}
	return false
}

func (e evaluation) meets(m permission.Matcher, l permission.List) bool {
	if m.Identity != nil && !e.isPeer(*m.Identity) {
		return false
	}
	if e.tcp {
		return l == permission.Deny || m.Path == nil && m.Method == ""
	}
	if m.Method != "" && m.Method != e.method {
		return false
	}
	return m.Path == nil || e.isPath(*m.Path)
}

func (e evaluation) isPeer(want policy.Match) bool {
	if want.Kind == policy.Exact {
		return e.peer == want.Value
	}
	return len(e.peer) >= len(want.Value) && e.peer[:len(want.Value)] == want.Value
}

// isPath compares whole segments: a slash is put behind both paths before their bytes
// are compared.
func (e evaluation) isPath(want policy.Match) bool {
	if want.Kind == policy.Exact {
		return e.path == want.Value
	}
	// "/" alone means every path, and a request without a path.
	below := strings.TrimRight(want.Value, "/") + "/"
	return below == "/" || strings.Index(e.path+"/", below) == 0
}

// byAction judges by Option 3: the heaviest action that has a condition for the request
// decides. In the shadow an allowWithShadowDeny denies.
func (e evaluation) byAction(in policy.Inbound) policy.Decision {
	d := policy.Decision{Layer: in.Protocol.Layer(), Shadowed: e.shadows()}
	effect, shadow, origin := policy.Deny, policy.Deny, "default"
	switch {
	case e.first(permission.Deny) != "":
		origin = "Deny"
	case e.first(permission.AllowWithShadowDeny) != "":
		effect, origin = policy.Allow, "AllowWithShadowDeny"
	case e.first(permission.Allow) != "":
		effect, shadow, origin = policy.Allow, policy.Allow, "Allow"
	}
	d.Verdict = policy.Verdict{Effect: effect, Origin: origin}
	if d.Shadowed {
		d.Shadow = policy.Verdict{Effect: shadow, Origin: origin}
	}
	return d
}
