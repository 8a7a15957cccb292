package evaluation

import (
	"slices"
	"strings"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/kuma/internal/legacy"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
)

// evaluateFrom judges by the legacy form: the last item that names the client decides.
func (e evaluation) evaluateFrom(in policy.Inbound, opts permission.Options, r policy.Request) policy.Decision {
	items := e.fromOf(in)
	// Envoy compares a principal with the DNS SANs too.
	names := slices.Concat(r.URIs, r.DNS)
	action := legacy.Deny
	d := policy.Decision{Layer: in.Protocol.Layer()}
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
func (e evaluation) fromOf(in policy.Inbound) []permission.FromItem {
	taken := -1
	if !e.tcp {
		taken = slices.IndexFunc(in.Routes, func(r policy.InboundRoute) bool { return e.takes(r.When) })
	}
	var out []permission.FromItem
	for _, p := range e.selected {
		if p.Target.Kind != permission.Route || taken >= 0 && in.Routes[taken].Name == p.Target.Name {
			out = append(out, p.From...)
		}
	}
	return out
}

// takes reports whether a route takes the request. Its condition is an And of paths and
// methods.
func (e evaluation) takes(when policy.Condition) bool {
	for c := range policy.Walk(when) {
		is, ok := c.(policy.Is)
		_, and := c.(policy.And)
		switch {
		case and:
		case ok && is.Attribute == attribute.Method && is.Match.Value == e.method:
		case ok && is.Attribute == attribute.Path && e.isPath(is.Match):
		default:
			return false
		}
	}
	return when != nil
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
