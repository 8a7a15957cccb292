package suite

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
	"github.com/meshproof/meshproof/xds"
)

// In network a policy of the network level lets the frontend into the backend. No policy
// selects the open workload, so every caller gets in there.
const network = `
case: friends of the network
workloads:
  - {name: backend, labels: {app: backend}, inbounds: [{name: http-port, port: 8080, mtls: permissive}, {name: tcp-port, port: 5432, protocol: tcp}]}
  - {name: open, inbounds: [{name: http-port, port: 8080}, {name: tcp-port, port: 5432, protocol: tcp}]}
options: {pathNormalization: {escapedSlashes: reject}}
policies:
  - apiVersion: gateway.networking.x-k8s.io/v1alpha1
    kind: XAuthorizationPolicy
    metadata: {name: friends}
    spec:
      targetRefs: [{kind: Pod, selector: {matchLabels: {app: backend}}}]
      action: ALLOW
      enforcementLevel: Network
      rules: [{sources: [{type: ServiceAccount, serviceAccount: {name: frontend}}]}]
`

// TestProblemsOnTheNetworkLevel has an HTTP inbound whose connections are judged, and one
// without a filter.
func TestProblemsOnTheNetworkLevel(t *testing.T) {
	t.Parallel()
	ask := func(from, to, more string) string {
		return network + "requests: [{from: " + from + ", to: " + to + ", " + more + "}]"
	}
	everybody := altered(func(p *policy.Program) {
		*p = policy.Program{Gates: []policy.Gate{{Form: policy.Named, Rules: []policy.Rule{{Verdict: policy.Verdict{Effect: policy.Allow, Origin: "all"}, When: policy.Always}}}}}
	})
	raise := altered(func(p *policy.Program) {
		if len(p.Gates) > 0 {
			p.Gates[0].Layer = policy.L7
		}
	})
	onL7 := CompilerFunc(func(ctx context.Context, in policy.Inbound, policies []manifest.Document, opts language.Options) (xds.Filters, error) {
		if in.Protocol == policy.TCP {
			return CompileOne(ctx, Reference, in, policies, opts)
		}
		return CompileOne(ctx, raise, in, policies, opts)
	})
	for name, tt := range map[string]struct {
		text     string
		compiler Compiler
		want     []string
	}{
		"allow on http":                 {ask(frontend, "backend/http-port", "want: allow, by: default/friends/000"), nil, nil},
		"allow on tcp":                  {ask(frontend, "backend/tcp-port", "want: allow, by: default/friends/000"), nil, nil},
		"close on http":                 {ask(intruder, "backend/http-port", `want: close, by: ""`), nil, nil},
		"close comes before 400":        {ask(intruder, "backend/http-port", "path: /a%2fb, want: close"), nil, nil},
		"400 behind an allow":           {ask(frontend, "backend/http-port", "path: /a%2fb, want: 400"), nil, nil},
		"close of plaintext":            {ask("plaintext", "backend/http-port", `want: close, by: ""`), nil, nil},
		"plaintext on a strict inbound": {ask("plaintext", "backend/tcp-port", "want: handshake-failure"), nil, nil},
		"nobody judges http":            {ask(intruder, "open/http-port", `want: allow, by: ""`), nil, nil},
		"nobody judges tcp":             {ask(intruder, "open/tcp-port", `want: allow, by: ""`), nil, nil},

		"no filter where one should be": {ask(intruder, "backend/http-port", "want: close"), altered(func(p *policy.Program) { *p = policy.Program{} }), []string{
			"the case wants close, Envoy says served",
			"the policies say deny, Envoy says served",
		}},
		"a filter where none should be": {ask(intruder, "open/http-port", "want: allow"), everybody, []string{
			"the policies say allow, Envoy says served (allow by all)",
		}},
		"plaintext that is let in": {ask("plaintext", "backend/http-port", "want: close"), everybody, []string{
			"the case wants close, Envoy says served (allow by all)",
			"the policies say deny, Envoy says served (allow by all)",
		}},
		"a 403 for a closed connection": {ask(intruder, "backend/http-port", "want: close"), onL7, []string{
			"the case wants close, Envoy says refused (deny)",
			"the refusal should come from an L4 filter, Envoy refused on L7",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result := Runner{Harness: shared(t), Compiler: tt.compiler}.Case(t.Context(), parse(t, tt.text))
			if result.Err != nil || result.Fault {
				t.Fatalf("error %v, fault %t; want neither", result.Err, result.Fault)
			}
			got := result.Requests[0].ProblemTexts()
			slices.Sort(got)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}
