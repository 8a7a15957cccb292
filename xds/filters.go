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
	return out
}

// Compile turns a program into filters: an L4 gate into
// envoy.extensions.filters.network.rbac.v3.RBAC, an L7 gate into
// envoy.extensions.filters.http.rbac.v3.RBAC, the shadow into the shadow_matcher
// of the gate's filter.
//
// It returns an error for a program that Envoy cannot express: a rule without an
// origin, a condition that its layer cannot judge, an L4 gate behind an L7 gate,
// a value that is no UTF-8, or a second gate on one layer (two filters of one
// kind overwrite each other's dynamic metadata, so that no access log could tell
// who decided).
func Compile(p policy.Program) (Filters, error) {
	if err := p.Check(); err != nil {
		return Filters{}, fmt.Errorf("xds: compile: %w", err)
	}
	if len(p.Shadows) > 1 {
		return Filters{}, errors.New("xds: compile: a filter runs one shadow, the program has several")
	}
	var f Filters
	for _, gate := range p.Gates {
		enforced, err := compileGate(gate)
		if err != nil {
			return Filters{}, err
		}
		switch gate.Layer {
		case policy.L4:
			if len(f.HTTP) > 0 {
				return Filters{}, errors.New("xds: compile: the program has an L4 gate behind an L7 gate, but Envoy judges a connection first")
			}
			f.Network = append(f.Network, &networkrbacv3.RBAC{Matcher: enforced})
		case policy.L7:
			f.HTTP = append(f.HTTP, &httprbacv3.RBAC{Matcher: enforced, TrackPerRuleStats: true})
		}
	}
	if len(f.Network) > 1 || len(f.HTTP) > 1 {
		return Filters{}, errors.New("xds: compile: the program has two gates on one layer")
	}
	if len(p.Shadows) == 1 {
		if err := f.addShadow(p.Shadows[0]); err != nil {
			return Filters{}, err
		}
	}
	return f, nil
}

func (f Filters) addShadow(gate policy.Gate) error {
	shadow, err := compileGate(gate)
	if err != nil {
		return err
	}
	switch {
	case gate.Layer == policy.L4 && len(f.Network) > 0:
		f.Network[0].ShadowMatcher = shadow
	case gate.Layer == policy.L7 && len(f.HTTP) > 0:
		f.HTTP[0].ShadowMatcher = shadow
	default:
		return fmt.Errorf("xds: compile: the program has a shadow on %s but no gate there", gate.Layer)
	}
	return nil
}
