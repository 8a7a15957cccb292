// Package xds compiles decision programs to Envoy's authorization filters.
//
// [Compile] makes [Filters] of a [policy.Program]. The package guarantees that Envoy
// decides by the filters as [policy.Decide] decides by the program: with the same origin,
// for every request. A program that Envoy cannot express is an error that names the part.
//
// It does not know any policy dialect, and it does not run Envoy: package harness serves
// filters to a real Envoy, and reports what Envoy logged of each request as an [AccessLog].
package xds

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	matcherv3 "github.com/cncf/xds/go/xds/type/matcher/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	jwtauthnv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/jwt_authn/v3"
	httprbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	networkrbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/rbac/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshproof/meshproof/internal/authorizer"
	"github.com/meshproof/meshproof/internal/authorizerfilter"
	"github.com/meshproof/meshproof/internal/rbac"
	"github.com/meshproof/meshproof/policy"
)

// ErrNACK is wrapped by the error of a push that Envoy refused. The previous
// configuration stays live.
var ErrNACK = errors.New("refused by Envoy")

// Filters are the authorization filters of one inbound in the order of Envoy: those of the network first,
// then those of HTTP. The zero value has no filter, so that every request passes.
//
// The listener gives each filter stat prefixes of its own, see [FilterPlace]. A
// shadow_rules_stat_prefix that a filter has here is the name of its shadow.
type Filters struct {
	Network []*networkrbacv3.RBAC
	HTTP    []*httprbacv3.RBAC
	// NetworkAsks and HTTPAsks have the authorizers that are asked behind a filter, by its index:
	// ext_authz asks about what the shadow of the filter denies.
	NetworkAsks, HTTPAsks map[int]authorizer.Authorizer
	// Routes have filters of their own, which replace those of HTTP.
	Routes []Route
	// RoutesOnly is true where Envoy has no route for other requests, and answers 404.
	RoutesOnly bool
	// Tokens is the filter for tokens (JWT) that another compiler gives, in front of those of HTTP;
	// nil where it says nothing of tokens. No listener serves it: it is read, and held against what
	// the policies demand.
	Tokens *jwtauthnv3.JwtAuthentication
	// MTLS and Normalization are what another compiler says of the listener; Unset and nil where it
	// says nothing. They are held against what the policies say, as Tokens is.
	MTLS          MTLS
	Normalization *policy.PathNormalization
}

// Messages returns the filters in Envoy's order, the filters for authorizers among them, and
// behind them those of the routes.
func (f Filters) Messages() []proto.Message {
	var out []proto.Message
	for i, filter := range f.Network {
		out = append(out, filter)
		if a, ok := f.NetworkAsks[i]; ok {
			out = append(out, authorizerfilter.Network(a, authorizerfilter.Prefix, "tcp.", serviceOf(a)))
		}
	}
	for i, filter := range f.HTTP {
		out = append(out, filter)
		if a, ok := f.HTTPAsks[i]; ok {
			out = append(out, authorizerfilter.HTTP(a, authorizerfilter.Prefix, serviceOf(a)))
		}
	}
	for _, route := range f.Routes {
		for _, filter := range route.HTTP {
			out = append(out, &httprbacv3.RBACPerRoute{Rbac: filter})
		}
	}
	return out
}

// serviceOf returns the service of an authorizer: that of its cluster, or else that of a cluster with its name.
func serviceOf(a authorizer.Authorizer) *corev3.GrpcService {
	return &corev3.GrpcService{TargetSpecifier: &corev3.GrpcService_EnvoyGrpc_{
		EnvoyGrpc: &corev3.GrpcService_EnvoyGrpc{ClusterName: cmp.Or(a.Cluster, a.Provider)},
	}}
}

// Compile turns a program into filters: an L4 gate into
// envoy.extensions.filters.network.rbac.v3.RBAC, an L7 gate into
// envoy.extensions.filters.http.rbac.v3.RBAC, a shadow into the shadow_matcher or
// shadow_rules of the filter of the gate that it stands in front of. Where another
// shadow has taken that place, or where there is no such gate, the shadow is a filter by
// itself. The filters of a route become one RBACPerRoute for each filter of the inbound.
//
// It returns an error for a program that has no meaning (see [policy.Program.Check]), and
// for a program that Envoy cannot express: a rule without an origin, a name compared with an
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
	f := Filters{RoutesOnly: p.RoutesOnly}
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
		f.HTTPAsks = s.addAsked(f.HTTPAsks, len(f.HTTP))
		f.HTTP = append(f.HTTP, filter)
		return err
	}
	if len(f.HTTP) > 0 {
		return errors.New("the program has an L4 gate behind an L7 gate, but Envoy judges a connection first")
	}
	filter, err := s.network()
	f.NetworkAsks = s.addAsked(f.NetworkAsks, len(f.Network))
	f.Network = append(f.Network, filter)
	return err
}

// addAsked adds the authorizer of the stage, if it asks one.
func (s stage) addAsked(to map[int]authorizer.Authorizer, index int) map[int]authorizer.Authorizer {
	if s.gate == nil || s.gate.Asks == nil {
		return to
	}
	if to == nil {
		to = map[int]authorizer.Authorizer{}
	}
	to[index] = *s.gate.Asks
	return to
}

// stage is what becomes one RBAC filter: a gate, a shadow, or both. Envoy asks the
// shadow first.
type stage struct{ gate, shadow *policy.Gate }

// stagesOf puts gates and shadows in the order of Envoy. A gate shares
// its filter with the last shadow in front of it.
func stagesOf(gates, shadows []policy.Gate) []stage {
	out := make([]stage, 0, len(gates)+len(shadows))
	next := 0
	for i := range gates {
		gate := &gates[i]
		for ; next < len(shadows) && shadows[next].Position(gates) <= i; next++ {
			out = append(out, stage{shadow: &shadows[next]})
		}
		if last := len(out) - 1; last >= 0 && gate.Asks == nil && out[last].gate == nil && out[last].shadow.Layer == gate.Layer {
			out[last].gate = gate
		} else {
			out = append(out, stage{gate: gate})
		}
	}
	for ; next < len(shadows); next++ {
		out = append(out, stage{shadow: &shadows[next]})
	}
	return out
}

func (s stage) layer() policy.Layer {
	if s.gate != nil {
		return s.gate.Layer
	}
	return s.shadow.Layer
}

func (s stage) network() (*networkrbacv3.RBAC, error) {
	enforced, observed, name, err := s.compile()
	return &networkrbacv3.RBAC{
		Matcher: enforced.matcher, Rules: enforced.rules,
		ShadowMatcher: observed.matcher, ShadowRules: observed.rules, ShadowRulesStatPrefix: name,
	}, err
}

func (s stage) http() (*httprbacv3.RBAC, error) {
	enforced, observed, name, err := s.compile()
	return &httprbacv3.RBAC{
		Matcher: enforced.matcher, Rules: enforced.rules,
		ShadowMatcher: observed.matcher, ShadowRules: observed.rules, ShadowRulesStatPrefix: name,
		TrackPerRuleStats: true,
	}, err
}

// compiled is a gate in the form that its filter takes: one of the two is set.
type compiled struct {
	matcher *matcherv3.Matcher
	rules   *rbacv3.RBAC
}

// compile returns both engines of the filter, and the name of its shadow.
func (s stage) compile() (enforced, observed compiled, name string, err error) {
	if s.gate != nil && s.gate.Asks != nil {
		observed, err = compileGate(asked(*s.gate))
		return enforced, observed, authorizerfilter.Prefix, err
	}
	if s.gate != nil {
		if enforced, err = compileGate(*s.gate); err != nil {
			return enforced, observed, name, err
		}
	}
	if s.shadow != nil {
		name = s.shadow.Name
		observed, err = compileGate(*s.shadow)
	}
	return enforced, observed, name, err
}

// asked returns the gate that denies what the authorizer of a gate is asked about.
func asked(gate policy.Gate) policy.Gate {
	gate.Asks, gate.Rules = nil, slices.Clone(gate.Rules)
	for i := range gate.Rules {
		// The program was checked: the condition is an And of two.
		gate.Rules[i].When = gate.Rules[i].When.(policy.And)[0]
	}
	return gate
}

func compileGate(gate policy.Gate) (c compiled, err error) {
	if gate.Form == policy.Named {
		c.rules, err = rbac.Named(gate)
	} else {
		c.matcher, err = rbac.Ordered(gate)
	}
	return c, err
}
