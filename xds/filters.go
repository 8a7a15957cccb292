package xds

import (
	"errors"
	"fmt"

	httprbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	networkrbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/rbac/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshproof/meshproof/policy"
)

// Filters are the authorization filters of one inbound in the order in which
// Envoy runs them: those of the network first, then those of HTTP. The zero
// value authorizes nothing and lets everything pass.
//
// The listener gives each filter stat prefixes of its own, see [FilterPlace]. A
// shadow_rules_stat_prefix that a filter has here is the name of its shadow.
type Filters struct {
	Network []*networkrbacv3.RBAC
	HTTP    []*httprbacv3.RBAC
	// Routes have filters of their own, which replace those of HTTP.
	Routes []Route
}

// Messages returns the filters in order, for printing.
func (f Filters) Messages() []proto.Message {
	var out []proto.Message
	for _, filter := range f.Network {
		out = append(out, filter)
	}
	for _, filter := range f.HTTP {
		out = append(out, filter)
	}
	for _, route := range f.Routes {
		for _, filter := range route.HTTP {
			out = append(out, &httprbacv3.RBACPerRoute{Rbac: filter})
		}
	}
	return out
}

// Compile turns a program into filters: an L4 gate into
// envoy.extensions.filters.network.rbac.v3.RBAC, an L7 gate into
// envoy.extensions.filters.http.rbac.v3.RBAC, a shadow into the shadow_matcher or
// shadow_rules of the filter of the gate that it stands in front of. Where another
// shadow has taken that place, or where there is no such gate, the shadow is a filter by
// itself. The filters of a route become one RBACPerRoute for each filter of the inbound.
//
// It returns an error for a program that has no meaning (see [policy.Program.Check]), and
// for one that Envoy cannot express: a rule without an origin, a name compared with an
// empty prefix, an L4 gate behind an L7 gate, a value that is no UTF-8, or a route where
// the inbound has no filter that it could replace.
func Compile(p policy.Program) (Filters, error) {
	f, err := compile(p)
	if err != nil {
		return Filters{}, fmt.Errorf("xds: compile: %w", err)
	}
	return f, nil
}

func compile(p policy.Program) (Filters, error) {
	if err := p.Check(); err != nil {
		return Filters{}, err
	}
	var f Filters
	var slots []slot
	for _, s := range stagesOf(p.Gates, p.Shadows) {
		if err := f.add(s); err != nil {
			return Filters{}, err
		}
		if s.layer() == policy.L7 {
			slots = append(slots, s.slot())
		}
	}
	for _, route := range p.Routes {
		if err := f.addRoute(p, route, &slots); err != nil {
			return Filters{}, fmt.Errorf("route %s: %w", route.Name, err)
		}
	}
	return f, nil
}

func (f *Filters) add(s stage) (err error) {
	if s.layer() == policy.L7 {
		var filter *httprbacv3.RBAC
		filter, err = s.http()
		f.HTTP = append(f.HTTP, filter)
		return err
	}
	if len(f.HTTP) > 0 {
		return errors.New("the program has an L4 gate behind an L7 gate, but Envoy judges a connection first")
	}
	filter, err := s.network()
	f.Network = append(f.Network, filter)
	return err
}
