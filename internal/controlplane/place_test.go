package controlplane

import (
	"regexp"
	"testing"

	httprbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	networkrbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/rbac/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

func TestParseCounter(t *testing.T) {
	t.Parallel()
	names := regexp.MustCompile(CounterNames("mesh1_inbound0", "mesh1_inbound1"))
	const stat = "mesh1_inbound0"
	for name, want := range map[string]*Counter{
		"http.mesh1_inbound0.rbac.allowed":                                  {stat, xds.FilterPlace{Layer: policy.L7, Index: 0, Logs: false}, "", "allowed"},
		"http.mesh1_inbound0.rbac.shadow_denied":                            {stat, xds.FilterPlace{Layer: policy.L7, Index: 0, Logs: false}, "", "shadow_denied"},
		"http.mesh1_inbound0.rbac.filter2_.denied":                          {stat, xds.FilterPlace{Layer: policy.L7, Index: 2, Logs: false}, "", "denied"},
		"http.mesh1_inbound0.rbac.filter12_.shadow_allowed":                 {stat, xds.FilterPlace{Layer: policy.L7, Index: 12, Logs: false}, "", "shadow_allowed"},
		"http.mesh1_inbound0.rbac.log1_.allowed":                            {stat, xds.FilterPlace{Layer: policy.L7, Index: 1, Logs: true}, "", "allowed"},
		"http.mesh1_inbound0.rbac.effective_log1_.shadow_allowed":           {stat, xds.FilterPlace{Layer: policy.L7, Index: 1, Logs: true}, "", "logged"},
		"http.mesh1_inbound0.rbac.log0_.shadow_denied":                      {stat, xds.FilterPlace{Layer: policy.L7, Index: 0, Logs: true}, "", "shadow_denied"},
		"mesh1_inbound0.rbac.allowed":                                       {stat, xds.FilterPlace{}, "", "allowed"},
		"mesh1_inbound0.rbac.shadow_allowed":                                {stat, xds.FilterPlace{}, "", "shadow_allowed"},
		"mesh1_inbound0_filter1.rbac.denied":                                {stat, xds.FilterPlace{Layer: policy.L4, Index: 1, Logs: false}, "", "denied"},
		"mesh1_inbound0_filter1.rbac.filter1_.shadow_denied":                {stat, xds.FilterPlace{Layer: policy.L4, Index: 1, Logs: false}, "", "shadow_denied"},
		"mesh1_inbound0_log0.rbac.allowed":                                  {stat, xds.FilterPlace{Layer: policy.L4, Index: 0, Logs: true}, "", "allowed"},
		"mesh1_inbound0_log0_effective.rbac.effective_log0_.shadow_allowed": {stat, xds.FilterPlace{Layer: policy.L4, Index: 0, Logs: true}, "", "logged"},
		"http.mesh1_inbound0.rbac.policy.p.allowed":                         {stat, xds.FilterPlace{Layer: policy.L7}, "p", "allowed"},
		"http.mesh1_inbound0.rbac.policy.p.shadow_denied":                   {stat, xds.FilterPlace{Layer: policy.L7}, "p", "shadow_denied"},
		"http.mesh1_inbound0.rbac.policy.a b.c\nd.denied":                   {stat, xds.FilterPlace{Layer: policy.L7}, "a b.c\nd", "denied"},
		"http.mesh1_inbound0.rbac.policy.policy.allowed":                    {stat, xds.FilterPlace{Layer: policy.L7}, "policy", "allowed"},
		"http.mesh1_inbound0.rbac.policy.http.mesh1_inbound0.rbac.allowed":  {stat, xds.FilterPlace{Layer: policy.L7}, "http.mesh1_inbound0.rbac", "allowed"},
		"http.mesh1_inbound0.rbac.policy.filter1_.policy.p.denied":          {stat, xds.FilterPlace{Layer: policy.L7}, "filter1_.policy.p", "denied"},
		"http.mesh1_inbound0.rbac.filter1_.policy.p.denied":                 {stat, xds.FilterPlace{Layer: policy.L7, Index: 1}, "p", "denied"},
		"http.mesh1_inbound0.rbac.log0_.policy.p.allowed":                   {stat, xds.FilterPlace{Layer: policy.L7, Logs: true}, "p", "logged"},
		"http.mesh1_inbound0.rbac.log0_.policy.p.shadow_allowed":            {stat, xds.FilterPlace{Layer: policy.L7, Logs: true}, "p", "shadow_allowed"},
		// Observers repeat what the filters count.
		"mesh1_inbound0_effective.rbac.effective_.shadow_allowed":                nil,
		"mesh1_inbound0_filter1_effective.rbac.effective_filter1_.shadow_denied": nil,
		"mesh1_inbound0_log0_effective.rbac.effective_log0_.shadow_denied":       nil,
		"http.mesh1_inbound0.rbac.istio_dry_run_allow_.shadow_allowed":           nil,
		"http.mesh1_inbound2.rbac.allowed":                                       nil,
		"http.mesh1_inbound0.downstream_rq_2xx":                                  nil,
	} {
		if got := names.MatchString(name); got != (want != nil) {
			t.Errorf("%s is asked for: %t", name, got)
		}
		if want == nil {
			continue
		}
		if got, ok := ParseCounter(name); !ok || got != *want {
			t.Errorf("%q is %+v (%t), want %+v", name, got, ok, *want)
		}
	}
	for _, name := range []string{"", "server.live", "http.a.rbac.policy", "http.a.rbac.policy.allowed.x", "http.a.rbac.other_.policy.p.allowed", "a.rbac.policy.p.allowed", "http.a.rbac.policy..allowed", "http.a.rbac.filter01_.allowed", "http.a.rbac.effective_log0_.allowed", "a_filter1_effective.rbac.effective_filter1_.shadow_allowed"} {
		if c, ok := ParseCounter(name); ok {
			t.Errorf("%q is the counter %+v", name, c)
		}
	}
}

// The stat prefix of an inbound must not read like the stat prefix of one of its filters.
func TestInboundWithTheStatPrefixOfAFilter(t *testing.T) {
	t.Parallel()
	for stat, want := range map[string]bool{"mesh": true, "filter1": true, "mesh_filter": true, "mesh_filter1": false, "mesh_log0": false, "mesh_effective": false} {
		in := testInbound(policy.HTTP, xds.Filters{})
		in.Stat = stat
		if err := in.check(); (err == nil) != want {
			t.Errorf("stat prefix %q: %v", stat, err)
		}
	}
}

// A placed filter has every field of the given filter: those of later versions of Envoy's
// messages are not lost in silence.
func TestPlacedFiltersLoseNoField(t *testing.T) {
	t.Parallel()
	fill := func(m proto.Message) {
		fields := m.ProtoReflect().Descriptor().Fields()
		for i := range fields.Len() {
			switch field := fields.Get(i); field.Kind() {
			case protoreflect.MessageKind:
				m.ProtoReflect().Mutable(field)
			case protoreflect.StringKind:
				m.ProtoReflect().Set(field, protoreflect.ValueOfString("x"))
			case protoreflect.BoolKind:
				m.ProtoReflect().Set(field, protoreflect.ValueOfBool(true))
			case protoreflect.EnumKind:
				m.ProtoReflect().Set(field, protoreflect.ValueOfEnum(1))
			default:
				t.Errorf("%s: a field of kind %s: fill it here", field.FullName(), field.Kind())
			}
		}
	}
	network, http := &networkrbacv3.RBAC{}, &httprbacv3.RBAC{}
	fill(network)
	fill(http)
	place := xds.FilterPlace{Index: 1}
	for _, placed := range []proto.Message{placedNetwork(network, place, "stat"), placedHTTP(http, place)} {
		fields := placed.ProtoReflect().Descriptor().Fields()
		for i := range fields.Len() {
			if !placed.ProtoReflect().Has(fields.Get(i)) {
				t.Errorf("%s is lost", fields.Get(i).FullName())
			}
		}
	}
}
