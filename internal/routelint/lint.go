// Package routelint warns of routes, timeouts and services that are legal and may not do what their
// author means.
//
// It guarantees that a warning has its kind, and the file, line and field that it is about. A rule or a
// limit without effect has none on any of the workloads: where the requests to a destination are known by
// examples only, no rule of it is called idle. It asks no Envoy.
package routelint

import (
	"slices"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/routeclasses"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/internal/warning"
	"github.com/meshproof/meshproof/policy"
)

// Lint returns the warnings about a set. The workloads are those that send, each as
// [capability.Routing.Outbounds] takes it.
func Lint(set capability.Routing, workloads []policy.Inbound) []policy.Warning {
	s := survey{effective: map[string]bool{}, told: map[string]bool{}, reasons: map[string]string{}}
	for _, m := range set.Mismatches(workloads) {
		s.warn(m)
	}
	known := map[string]bool{}
	var ignored [][]routing.Ignored
	for _, w := range workloads {
		proxy, without := set.Outbounds(w)
		ignored = append(ignored, without)
		if key := proxy.String(); !known[key] {
			known[key] = true
			s.add(proxy)
		}
	}
	for _, i := range everywhere(ignored) {
		s.warn(i)
	}
	for _, p := range set.Parts() {
		s.addPart(p)
	}
	return s.warnings
}

// Idle returns the rules and the limits without an effect on any of the workloads, but for the places of the
// others and what is in them, and the policies of those with something missing, of which more is told already.
func Idle(set capability.Routing, workloads []policy.Inbound, others []routing.Ignored) (out []routing.Ignored) {
	itemOf := map[string]string{}
	for _, p := range set.Parts() {
		itemOf[p.Place] = p.Item
	}
	for _, w := range Lint(set, workloads) {
		idle := w.Kind == warning.RouteNotReached || w.Kind == warning.LimitWithoutEffect
		if idle && !slices.ContainsFunc(others, func(i routing.Ignored) bool {
			return i.Place == w.Place || i.Place == itemOf[w.Place] && i.Reason == w.Message || i.Missing && i.Origin == w.Policy
		}) {
			out = append(out, routing.Ignored{Origin: w.Policy, Place: w.Place, Kind: w.Kind, Reason: w.Message})
		}
	}
	return out
}

// survey is what is known of the workloads.
type survey struct {
	warnings []policy.Warning
	// effective are the places of rules, backends and limits that a request meets. Told are the places
	// that a warning is about.
	effective, told map[string]bool
	// reasons say of items why a part of them has no effect.
	reasons map[string]string
}

// warn warns of what has no effect on any workload.
func (s *survey) warn(i routing.Ignored) {
	switch i.Kind {
	case warning.LimitWithoutEffect, warning.RouteNotReached:
		// An item may have other parts that have an effect.
		s.reasons[i.Place] = i.Reason
	case "":
		s.told[i.Place] = true
	default:
		if i.Kind != warning.MissingBackend {
			s.told[i.Place] = true
		}
		s.warnings = append(s.warnings, policy.Warning{Kind: i.Kind, Place: i.Place, Policy: i.Origin, Message: i.Reason})
	}
}

// everywhere returns what each of the lists has, by the place.
func everywhere(lists [][]routing.Ignored) []routing.Ignored {
	if len(lists) == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(lists[0]), func(i routing.Ignored) bool {
		return slices.ContainsFunc(lists[1:], func(list []routing.Ignored) bool {
			return !slices.ContainsFunc(list, func(other routing.Ignored) bool { return other.Place == i.Place })
		})
	})
}

// add adds what the requests of one sidecar meet.
func (s *survey) add(proxy routing.Proxy) {
	backends := map[string]bool{}
	for _, o := range proxy.Outbounds {
		s.effective[o.Headers.Place] = true
		for _, r := range reached(o) {
			for _, place := range []string{r.Place, r.Sends, r.Request.Place, r.StreamIdle.Place, r.Idle.Place} {
				s.effective[place] = true
			}
			for _, b := range r.Backends {
				backends[b.Cluster] = backends[b.Cluster] || b.Weight > 0
			}
		}
	}
	for _, c := range proxy.Clusters {
		for bound, limit := range c.Limits {
			// A tcp backend has no other bound: the route has the idle time.
			if backends[c.Name] && (c.Protocol.Layer() == policy.L7 || routing.Bound(bound) == routing.Connection) {
				s.effective[limit.Place] = true
			}
		}
	}
}

// reached returns the routes of an outbound that take a request.
func reached(o routing.Outbound) (out []routing.Route) {
	cover := routeclasses.Cut(o)
	if !cover.Complete() || o.Protocol.Layer() == policy.L4 {
		return o.Routes
	}
	taken := map[int]bool{}
	for _, class := range cover.Classes {
		taken[slices.IndexFunc(o.Routes, func(r routing.Route) bool { return r.When == nil || r.When.Holds(&class.Witness) })] = true
	}
	for i, r := range o.Routes {
		if taken[i] {
			out = append(out, r)
		}
	}
	return out
}

// addPart warns of a part that no request meets, unless its item or its policy has no effect as a whole.
func (s *survey) addPart(p routing.Part) {
	if s.effective[p.Place] || p.Sends != "" && s.effective[p.Sends] || s.told[p.Item] || s.told[p.Policy] {
		return
	}
	w := policy.Warning{Kind: warning.RouteNotReached, Place: p.Place, Policy: p.Origin, Message: s.reasons[p.Item]}
	switch {
	case p.Limit && w.Message == "":
		w.Kind, w.Message = warning.LimitWithoutEffect, "the limit has no effect on any workload: a stronger policy sets it, or no request takes the route"
	case p.Limit:
		w.Kind = warning.LimitWithoutEffect
	case w.Message == "":
		w.Message = "no request of any workload takes this rule: a stronger route, or one with a narrower match, takes each of them"
	}
	s.warnings = append(s.warnings, w)
}
