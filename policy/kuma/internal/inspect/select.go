package inspect

import (
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/internal/dataplane"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/kuma/internal/selection"
)

// selectFor selects as [selection.Select] does, but the reason for a policy of a route
// says that it may apply: a Dataplane does not state its routes.
func (m *mesh) selectFor(in policy.Inbound, opts permission.Options) selection.Selection {
	sel := selection.Select(m.policies, in, opts)
	if len(m.routes) == 0 {
		return sel
	}
	in.Routes = m.routes
	routed := selection.Select(m.policies, in, opts)
	reasons := make(map[string]string, len(routed.Ignored))
	for _, ignored := range routed.Ignored {
		reasons[ignored.Policy.String()] = ignored.Reason
	}
	for i, ignored := range sel.Ignored {
		reason, missed := reasons[ignored.Policy.String()]
		if !missed {
			reason = fmt.Sprintf("targetRef names the route %q: routes are not known here, so that it may govern one of the inbound", ignored.Policy.Route())
		}
		sel.Ignored[i].Reason = reason
	}
	return sel
}

// selectAlike returns the policies that apply to every inbound of a dataplane, whatever
// the names and ports of the inbounds.
func (m *mesh) selectAlike(d *dataplane.Dataplane, opts permission.Options) selection.Selection {
	if len(d.Inbounds) == 0 {
		return m.selectFor(policy.Inbound{Workload: d.Workload}, opts)
	}
	selections := make([]selection.Selection, len(d.Inbounds))
	applied := make(map[string]int)
	for i, in := range d.Inbounds {
		in.Name, in.Port = "", 0
		selections[i] = m.selectFor(in, opts)
		for _, p := range selections[i].Policies {
			applied[p.String()]++
		}
	}
	// The reasons are those of the first inbound that can have routes.
	sel := selections[max(0, slices.IndexFunc(d.Inbounds, func(in policy.Inbound) bool { return in.Protocol.Layer() == policy.L7 }))]
	const some = "it applies to some of the inbounds, this is about all of them alike: ask for the policies of an inbound"
	for i, ignored := range sel.Ignored {
		if applied[ignored.Policy.String()] > 0 {
			sel.Ignored[i].Reason = some
		}
	}
	sel.Policies = slices.DeleteFunc(sel.Policies, func(p permission.Policy) bool {
		partly := applied[p.String()] < len(d.Inbounds)
		if partly {
			sel.Ignored = append(sel.Ignored, selection.Ignored{Policy: p, Reason: some})
		}
		return partly
	})
	return sel
}
