package permission

import (
	"slices"
	"strings"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/kuma/internal/legacy"
)

// evaluateFrom is [Evaluate] for the legacy form: the last item that meets the
// client decides.
func (e evaluation) evaluateFrom(in policy.Inbound, opts Options, r policy.Request) policy.Decision {
	items := e.fromOf(in)
	// Envoy looks for a principal among the DNS SANs too.
	names := slices.Concat(r.URIs, r.DNS)
	action := legacy.Deny
	d := policy.Decision{Layer: in.Protocol.Layer()}
	for _, item := range items {
		if item.meets(names) {
			action = item.action
		}
		if item.action == legacy.AllowWithShadowDeny || item.action == legacy.DenyWithShadowAllow {
			d.Shadowed = true
		}
	}
	if opts.LegacyCompiler == legacy.Full && contradictory(items, names) {
		return d
	}
	if action == legacy.Allow || action == legacy.AllowWithShadowDeny {
		d.Verdict = policy.Verdict{Effect: policy.Allow, Origin: "MeshTrafficPermission"}
	}
	if d.Shadowed && (action == legacy.DenyWithShadowAllow || action == legacy.Allow && opts.ShadowForm == Precise) {
		d.Shadow = policy.Verdict{Effect: policy.Allow, Origin: "ShadowMeshTrafficPermission"}
	}
	return d
}

// fromOf returns the items that govern the request, given the route it takes.
func (e evaluation) fromOf(in policy.Inbound) []fromItem {
	taken := -1
	if !e.tcp {
		taken = slices.IndexFunc(in.Routes, func(r policy.InboundRoute) bool { return e.takes(r.When) })
	}
	var out []fromItem
	for _, p := range e.selected {
		if p.target.kind != route || taken >= 0 && in.Routes[taken].Name == p.target.name {
			out = append(out, p.from...)
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

func (i fromItem) meets(uris []string) bool {
	for _, tag := range i.tags {
		if !slices.Contains(uris, "kuma://"+tag.key+"/"+tag.value) {
			return false
		}
	}
	if i.service != "" {
		return slices.Contains(uris, "spiffe://"+i.serviceMesh+"/"+i.service)
	}
	return i.mesh == "" || isOfMesh(uris, i.mesh)
}

func isOfMesh(uris []string, mesh string) bool {
	return slices.ContainsFunc(uris, func(uri string) bool { return strings.HasPrefix(uri, "spiffe://"+mesh+"/") })
}

// contradictory reports whether the client has two values of something that the
// items name, and that has one value in every combination of the full view.
func contradictory(items []fromItem, uris []string) bool {
	found := make(map[string]string)
	twice := false
	has := func(what, value string) {
		if first, ok := found[what]; ok && first != value {
			twice = true
		}
		found[what] = value
	}
	for _, item := range items {
		for _, tag := range item.tags {
			if slices.Contains(uris, "kuma://"+tag.key+"/"+tag.value) {
				has("tag "+tag.key, tag.value)
			}
		}
		switch id := "spiffe://" + item.serviceMesh + "/" + item.service; {
		case item.service != "" && slices.Contains(uris, id):
			has("service", id)
			has("mesh", item.serviceMesh)
		case item.service == "" && item.mesh != "" && isOfMesh(uris, item.mesh):
			has("mesh", item.mesh)
		}
	}
	return twice
}
