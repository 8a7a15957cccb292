package xds

import (
	"errors"
	"slices"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	httprbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"

	"github.com/meshproof/meshproof/internal/rbac"
	"github.com/meshproof/meshproof/policy"
)

// Route is a route of an inbound with RBAC filters of its own.
type Route struct {
	Name  string
	Match *routev3.RouteMatch
	// HTTP has the filters of the route. Each replaces the filter of [Filters.HTTP] that
	// has the same index. For the route, Envoy skips a filter of the inbound that has no
	// counterpart here.
	HTTP []*httprbacv3.RBAC
}

// slot describes the filters at one place: the filter of the inbound, and those of its
// routes. They share their stat prefixes. So all of them log or none does, and their
// shadows have one name.
type slot struct {
	gates, logs bool
	shadows     bool
	shadow      string
}

func (s stage) slot() (out slot) {
	if s.gate != nil {
		out.gates, out.logs = true, s.gate.Logs()
	}
	if s.shadow != nil {
		out.shadows, out.shadow = true, s.shadow.Name
	}
	return out
}

// join adds the description of another filter to the slot. It reports false, and changes
// nothing, where both cannot share a place.
func (s *slot) join(other slot) bool {
	if s.gates && other.gates && s.logs != other.logs || s.shadows && other.shadows && s.shadow != other.shadow {
		return false
	}
	if other.gates {
		s.gates, s.logs = true, other.logs
	}
	if other.shadows {
		s.shadows, s.shadow = true, other.shadow
	}
	return true
}

// addRoute gives each filter of the route the first slot that it fits into. Where there is
// no such slot, the inbound gets another filter, which lets all its own requests pass.
func (f *Filters) addRoute(p policy.Program, route policy.Route, slots *[]slot) error {
	if len(f.HTTP) == 0 && !p.RoutesOnly {
		return errors.New("the inbound has no HTTP filter that a route could replace")
	}
	match := &routev3.RouteMatch{PathSpecifier: &routev3.RouteMatch_Prefix{Prefix: ""}}
	if err := rbac.NarrowRoute(match, route.When); err != nil {
		return err
	}
	out := Route{Name: route.Name, Match: match}
	for _, s := range stagesOf(slices.Concat(onL4(p.Gates), route.Gates), slices.Concat(onL4(p.Shadows), route.Shadows)) {
		if s.layer() == policy.L4 {
			continue
		}
		own := s.slot()
		for len(out.HTTP) < len(*slots) && !(*slots)[len(out.HTTP)].join(own) {
			out.HTTP = append(out.HTTP, &httprbacv3.RBAC{})
		}
		if len(out.HTTP) == len(*slots) {
			*slots = append(*slots, own)
			f.HTTP = append(f.HTTP, &httprbacv3.RBAC{})
		}
		// The filter of the inbound has the name of the shadow, even without a shadow.
		if own.shadows {
			f.HTTP[len(out.HTTP)].ShadowRulesStatPrefix = own.shadow
		}
		filter, err := s.http()
		if err != nil {
			return err
		}
		// The per-rule statistics belong to the filter, not to the route.
		filter.TrackPerRuleStats = false
		out.HTTP = append(out.HTTP, filter)
	}
	f.Routes = append(f.Routes, out)
	return nil
}

func onL4(gates []policy.Gate) (out []policy.Gate) {
	for _, gate := range gates {
		if gate.Layer == policy.L4 {
			out = append(out, gate)
		}
	}
	return out
}
