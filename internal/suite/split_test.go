package suite

import (
	"context"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
	"github.com/meshproof/meshproof/xds"
)

// Istio's normal form is a filter that logs, a filter that denies and a filter that allows, each
// with a prefix for a shadow that it may not have. A compiler may write policies of one gate that
// way: decisions, names and counters are read filter by filter.
func TestSeveralFiltersOfOneGate(t *testing.T) {
	t.Parallel()
	const text = `
case: friends, and not all
workloads: [{name: backend, inbounds: [{name: http-port, port: 8080}, {name: tcp-port, port: 5432, protocol: tcp}]}]
policies:
  - type: MeshTrafficPermission
    name: p
    spec: {default: {deny: [{spiffeId: {type: Exact, value: ` + mallory + `}}], allow: [{spiffeId: {type: Exact, value: ` + frontend + `}}]}}
requests:
  - {from: ` + mallory + `, to: [backend/http-port, backend/tcp-port], want: deny, by: kri_mtp_default___p_}
  - {from: ` + intruder + `, to: [backend/http-port, backend/tcp-port], want: deny, by: default, shadow: none}
  - {from: ` + frontend + `, to: [backend/http-port, backend/tcp-port], want: allow}
counters: {backend/http-port: {allowed: 1, denied: 2}, backend/tcp-port: {allowed: 1, denied: 2}}
`
	const name = "kri_mtp_default___p_"
	divided := func(wrong bool) Compiler {
		return &Foreign{CompilerFunc: func(ctx context.Context, in policy.Inbound, docs []manifest.Document, opts language.Options) (xds.Filters, error) {
			f, err := CompileOne(ctx, Reference, in, docs, opts)
			if err != nil {
				return f, err
			}
			layer, whole := policy.L4, f.Network
			if in.Protocol.Layer() == policy.L7 {
				layer = policy.L7
			}
			denied := mallory
			if wrong {
				denied += "x"
			}
			deny := orderedGate(layer, policy.Allow, ruled(policy.Deny, name, attribute.Identity.Exact(denied)))
			audit := namedGate(layer, policy.Log, ruled(policy.Log, "audit", attribute.URISAN.Prefix("spiffe://trust-domain.mesh/ns/audited/")))
			first, err := xds.Compile(policy.Program{Gates: []policy.Gate{audit, deny}})
			const prefix = "istio_dry_run_allow_"
			f.Network, f.HTTP = append(first.Network, whole...), append(first.HTTP, f.HTTP...)
			for i, filter := range f.Network {
				f.Network[i] = proto.CloneOf(filter)
				f.Network[i].ShadowRulesStatPrefix = prefix
			}
			for i, filter := range f.HTTP {
				f.HTTP[i] = proto.CloneOf(filter)
				f.HTTP[i].ShadowRulesStatPrefix, f.HTTP[i].RulesStatPrefix, f.HTTP[i].TrackPerRuleStats = prefix, "mine_", false
			}
			if wrong {
				f.Network, f.HTTP = f.Network[:min(2, len(f.Network))], f.HTTP[:min(2, len(f.HTTP))]
			}
			return f, err
		}}
	}
	for _, anyNames := range []bool{false, true} {
		r := Runner{Harness: sharedEnvoy.Get(t), Compiler: divided(false), AnyNames: anyNames}.Case(t.Context(), casetest.Parse(t, text))
		if !r.Passed() {
			t.Errorf("any names %t: %s", anyNames, strings.Join(r.Failures(), "\n"))
		}
		r = Runner{Harness: sharedEnvoy.Get(t), Compiler: divided(true), AnyNames: anyNames}.Case(t.Context(), casetest.Parse(t, text))
		if r.Passed() || r.Fault {
			t.Errorf("any names %t: a wrong compiler passes, or is broken: %v", anyNames, r.Err)
		}
	}
}

// A prefix of a shadow is the compiler's own, and hides nothing of the shadow.
func TestPrefixOfAShadow(t *testing.T) {
	t.Parallel()
	c := casetest.Parse(t, shadowed+"requests: [{from: "+frontend+", to: [backend/http-port, backend/tcp-port], want: allow, shadow: deny, shadowBy: "+friends+"}]\n"+
		"counters: {backend/http-port: {shadow_denied: 1}, backend/tcp-port: {shadow_denied: 1}}")
	prefixed := bent(func(f *xds.Filters) {
		for _, filter := range f.Network {
			filter.ShadowRulesStatPrefix = "istio_dry_run_allow_"
		}
		for i, filter := range f.HTTP {
			f.HTTP[i] = proto.CloneOf(filter)
			f.HTTP[i].ShadowRulesStatPrefix = "istio_dry_run_allow_"
		}
	})
	if r := (Runner{Harness: sharedEnvoy.Get(t), Compiler: prefixed}).Case(t.Context(), c); !r.Passed() {
		t.Error(strings.Join(r.Failures(), "\n"))
	}
}
