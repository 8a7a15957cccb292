// Package evaluation judges one request straight from the text of the policies.
//
// It is the second opinion on packages selection and lowering and on [policy.Decide]. It
// shares the parsed text with them and nothing else: it selects, orders and matches by
// itself, by the plainest code that does so, and calls no function of theirs. A test in
// internal/architecture holds that.
package evaluation

import (
	"cmp"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/kuma/internal/legacy"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/kuma/internal/target"
)

// ForInbound selects the policies that apply to the inbound, and returns a function that judges
// requests straight from their text.
func ForInbound(ps []permission.Policy, in policy.Inbound, opts permission.Options) func(policy.Request) policy.Decision {
	selected := applying(ps, in, opts)
	return func(r policy.Request) policy.Decision { return newEvaluation(selected, in, r).evaluate(in, opts, r) }
}

// Locate selects the policies that apply to the inbound, and returns a function that says
// "file:line" of the matcher or the item that decides a request, and of that which decides in
// the shadow. It is "" where none does.
func Locate(ps []permission.Policy, in policy.Inbound, opts permission.Options) func(policy.Request) (decides, shadow string) {
	selected := applying(ps, in, opts)
	return func(r policy.Request) (string, string) { return newEvaluation(selected, in, r).locate(in, opts, r) }
}

func (e *evaluation) locate(in policy.Inbound, opts permission.Options, r policy.Request) (decides, shadow string) {
	d := e.evaluate(in, opts, r)
	if e.isFrom() {
		place := e.lastItem(in, r)
		if d.Shadowed {
			shadow = place
		}
		return place, shadow
	}
	place := func(v policy.Verdict, lists ...permission.List) string {
		if v.Origin == "default" {
			return ""
		}
		return e.find(lists...).place
	}
	allows := []permission.List{permission.Allow, permission.AllowWithShadowDeny}
	decides = place(d.Verdict, permission.Deny)
	if d.Effect == policy.Allow {
		decides = place(d.Verdict, allows...)
	}
	switch {
	case !d.Shadowed:
	case d.Shadow.Effect == policy.Allow:
		shadow = place(d.Shadow, permission.Allow)
	case opts.ShadowForm == permission.Precise || opts.Option == permission.Option3:
		shadow = place(d.Shadow, permission.Deny)
		if shadow == "" {
			shadow = place(d.Shadow, permission.AllowWithShadowDeny)
		}
	default:
		shadow = place(d.Shadow, permission.AllowWithShadowDeny)
	}
	return decides, shadow
}

func newEvaluation(selected []*permission.Policy, in policy.Inbound, r policy.Request) *evaluation {
	e := &evaluation{selected: selected, tcp: in.Protocol == policy.TCP, peer: strings.Join(r.URIs, ","), sni: r.SNI, method: r.Method}
	e.path, _, _ = strings.Cut(r.Path, "?")
	return e
}

// isFrom reports whether the legacy form governs the inbound.
func (e *evaluation) isFrom() bool {
	for _, p := range e.selected {
		if len(p.From) > 0 {
			return true
		}
	}
	return false
}

func (e *evaluation) evaluate(in policy.Inbound, opts permission.Options, r policy.Request) policy.Decision {
	if e.isFrom() {
		return e.evaluateFrom(in, opts, r)
	}
	if opts.Option == permission.Option3 {
		return e.byAction()
	}
	if opts.Option == permission.Option2 {
		e.name = "MeshTrafficPermission"
	}

	d := policy.Decision{Layer: e.layer()}
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
	selected []*permission.Policy
	tcp      bool
	peer     string
	sni      string
	method   string
	path     string
	// name is the origin of every verdict where it is set.
	name string
}

// layer is where the requests are judged.
func (e *evaluation) layer() policy.Layer {
	if e.tcp {
		return policy.L4
	}
	return policy.L7
}

// found is a matcher that meets the request.
type found struct{ origin, place string }

// first returns the origin of the first rule that has a matcher for the request in
// one of the lists, "" where there is none.
func (e *evaluation) first(lists ...permission.List) string { return e.find(lists...).origin }

func (e *evaluation) find(lists ...permission.List) found {
	for _, p := range e.selected {
		for i := range p.Rules {
			for _, l := range lists {
				for _, m := range p.Rules[i].Lists[l] {
					if e.meets(m, l) {
						return found{cmp.Or(e.name, p.Origin), p.Doc.Place(m.Field)}
					}
				}
			}
		}
	}
	return found{}
}

// shadows reports whether there is an allowWithShadowDeny that can match on the inbound.
func (e *evaluation) shadows() bool {
	for _, p := range e.selected {
		for i := range p.Rules {
			for _, m := range p.Rules[i].Lists[permission.AllowWithShadowDeny] {
				if !e.tcp || m.Path == nil && m.Method == "" {
					return true
				}
			}
		}
	}
	return false
}

func (e *evaluation) meets(m permission.Matcher, l permission.List) bool {
	if m.Identity != nil && !e.isPeer(*m.Identity) {
		return false
	}
	if m.SNI != "" && m.SNI != e.sni {
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

func (e *evaluation) isPeer(want policy.Match) bool {
	if want.Kind == policy.Exact {
		return e.peer == want.Value
	}
	return len(e.peer) >= len(want.Value) && e.peer[:len(want.Value)] == want.Value
}

// isPath compares whole segments: a slash is put behind both paths before their bytes
// are compared.
func (e *evaluation) isPath(want policy.Match) bool {
	if want.Kind == policy.Exact {
		return e.path == want.Value
	}
	// "/" alone means every path, and a request without a path.
	below := strings.TrimRight(want.Value, "/") + "/"
	return below == "/" || strings.Index(e.path+"/", below) == 0
}

// byAction judges by Option 3: the heaviest action that has a condition for the request
// decides. In the shadow an allowWithShadowDeny denies.
func (e *evaluation) byAction() policy.Decision {
	d := policy.Decision{Layer: e.layer(), Shadowed: e.shadows()}
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

// evaluateFrom judges by the legacy form: the last item that names the client decides.
func (e *evaluation) evaluateFrom(in policy.Inbound, opts permission.Options, r policy.Request) policy.Decision {
	items := e.fromOf(in)
	// Envoy compares a principal with the DNS SANs too.
	names := slices.Concat(r.URIs, r.DNS)
	action := legacy.Deny
	d := policy.Decision{Layer: e.layer()}
	for _, item := range items {
		if meets(item, names) {
			action = item.Action
		}
		if item.Action == legacy.AllowWithShadowDeny || item.Action == legacy.DenyWithShadowAllow {
			d.Shadowed = true
		}
	}
	if opts.LegacyCompiler == legacy.Full && contradictory(items, names) {
		return d
	}
	if action == legacy.Allow || action == legacy.AllowWithShadowDeny {
		d.Verdict = policy.Verdict{Effect: policy.Allow, Origin: "MeshTrafficPermission"}
	}
	if d.Shadowed && (action == legacy.DenyWithShadowAllow || action == legacy.Allow && opts.ShadowForm == permission.Precise) {
		d.Shadow = policy.Verdict{Effect: policy.Allow, Origin: "ShadowMeshTrafficPermission"}
	}
	return d
}

// fromOf returns the items that govern the request on the route that it takes.
func (e *evaluation) fromOf(in policy.Inbound) []permission.FromItem {
	var out []permission.FromItem
	for _, p := range e.governing(in) {
		out = append(out, p.From...)
	}
	return out
}

// governing returns the policies of the legacy form that govern the request on the route
// that it takes: those of the inbound, and then those of the route.
func (e *evaluation) governing(in policy.Inbound) []*permission.Policy {
	taken := -1
	if !e.tcp {
		taken = slices.IndexFunc(in.Routes, func(r policy.InboundRoute) bool { return e.takes(r.When) })
	}
	var out []*permission.Policy
	for _, p := range e.selected {
		if p.Target.Kind != target.Route || taken >= 0 && in.Routes[taken].Name == p.Target.Name {
			out = append(out, p)
		}
	}
	return out
}

// lastItem returns the place of the last item that names the client.
func (e *evaluation) lastItem(in policy.Inbound, r policy.Request) string {
	place := ""
	for _, p := range e.governing(in) {
		for _, item := range p.From {
			if meets(item, slices.Concat(r.URIs, r.DNS)) {
				place = p.Doc.Place(item.Field)
			}
		}
	}
	return place
}

// takes reports whether a route takes the request. Its condition is an And of paths and
// methods.
func (e *evaluation) takes(when policy.Condition) bool {
	switch c := when.(type) {
	case policy.And:
		for _, part := range c {
			if !e.takes(part) {
				return false
			}
		}
		return true
	case policy.Is:
		return c.Attribute == attribute.Method && c.Match.Value == e.method || c.Attribute == attribute.Path && e.isPath(c.Match)
	default:
		return false
	}
}

func meets(i permission.FromItem, uris []string) bool {
	for _, tag := range i.Tags {
		if !slices.Contains(uris, "kuma://"+tag.Key+"/"+tag.Value) {
			return false
		}
	}
	if i.Service != "" {
		return slices.Contains(uris, "spiffe://"+i.ServiceMesh+"/"+i.Service)
	}
	return i.Mesh == "" || isOfMesh(uris, i.Mesh)
}

func isOfMesh(uris []string, mesh string) bool {
	return slices.ContainsFunc(uris, func(uri string) bool { return strings.HasPrefix(uri, "spiffe://"+mesh+"/") })
}

// contradictory reports whether the certificate has two values of one tag, two services
// or two meshes that the items name. Every combination of the full view has one.
func contradictory(items []permission.FromItem, uris []string) bool {
	found := make(map[string]string)
	twice := false
	has := func(what, value string) {
		if first, ok := found[what]; ok && first != value {
			twice = true
		}
		found[what] = value
	}
	for _, item := range items {
		for _, tag := range item.Tags {
			if slices.Contains(uris, "kuma://"+tag.Key+"/"+tag.Value) {
				has("tag "+tag.Key, tag.Value)
			}
		}
		switch id := "spiffe://" + item.ServiceMesh + "/" + item.Service; {
		case item.Service != "" && slices.Contains(uris, id):
			has("service", id)
			has("mesh", item.ServiceMesh)
		case item.Service == "" && item.Mesh != "" && isOfMesh(uris, item.Mesh):
			has("mesh", item.Mesh)
		}
	}
	return twice
}
