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
// Stat prefixes are left to the listener, which gives each inbound its own.
type Filters struct {
	Network []*networkrbacv3.RBAC
	HTTP    []*httprbacv3.RBAC
	// Routes have their own in the place of HTTP.
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
		out = append(out, &httprbacv3.RBACPerRoute{Rbac: route.RBAC})
	}
	return out
}

// Compile turns a program into filters: an L4 gate into
// envoy.extensions.filters.network.rbac.v3.RBAC, an L7 gate into
// envoy.extensions.filters.http.rbac.v3.RBAC, the shadow into the shadow_matcher
// or shadow_rules of the gate's filter, a route's gate into an RBACPerRoute.
//
// It returns an error for a program that Envoy cannot express: a rule without an
// origin, a condition that its layer or form cannot judge, a name compared with an
// empty prefix, an L4 gate behind an L7 gate, a value that is no UTF-8, a route where no filter stands that it could
// replace, or a second gate on one layer (two filters of one kind overwrite each
// other's dynamic metadata, so that no access log could tell who decided).
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
	shadow, err := onlyShadow(p.Shadows)
	if err != nil {
		return Filters{}, err
	}
	var f Filters
	for _, gate := range p.Gates {
		var own *policy.Gate
		if shadow != nil && shadow.Layer == gate.Layer {
			own, shadow = shadow, nil
		}
		if err := f.add(gate, own); err != nil {
			return Filters{}, err
		}
	}
	if shadow != nil {
		return Filters{}, fmt.Errorf("the program has a shadow on %s but no gate there", shadow.Layer)
	}
	for _, route := range p.Routes {
		if err := f.addRoute(route); err != nil {
			return Filters{}, fmt.Errorf("route %s: %w", route.Name, err)
		}
	}
	return f, nil
}

func onlyShadow(shadows []policy.Gate) (*policy.Gate, error) {
	switch len(shadows) {
	case 0:
		return nil, nil
	case 1:
		return &shadows[0], nil
	default:
		return nil, errors.New("a filter runs one shadow, the program has several")
	}
}

func (f *Filters) add(gate policy.Gate, shadow *policy.Gate) error {
	if len(f.HTTP) > 0 && gate.Layer == policy.L4 {
		return errors.New("the program has an L4 gate behind an L7 gate, but Envoy judges a connection first")
	}
	if len(f.HTTP) > 0 || len(f.Network) > 0 && gate.Layer == policy.L4 {
		return errors.New("the program has two gates on one layer")
	}
	if gate.Layer == policy.L4 {
		filter, err := compileNetwork(gate, shadow)
		f.Network = append(f.Network, filter)
		return err
	}
	filter, err := compileHTTP(gate, shadow)
	f.HTTP = append(f.HTTP, filter)
	return err
}
