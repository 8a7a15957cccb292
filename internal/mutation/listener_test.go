package mutation_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/envoy"
	"github.com/meshproof/meshproof/internal/mistake"
	"github.com/meshproof/meshproof/internal/mutation"
	"github.com/meshproof/meshproof/internal/suite"
)

// stated has policies that say what the listener does, and one request for each mistake in it.
const stated = `
case: stated
options: {istio: {normalization: BASE, extensionProviders: [{name: opa, envoyExtAuthzGrpc: {service: a.svc, port: 1}, unreachable: true}]}}
workloads: [{name: api, namespace: shop, inbounds: [{port: 8080, protocol: http}]}]
policies:
  - {apiVersion: security.istio.io/v1, kind: PeerAuthentication, metadata: {name: m, namespace: shop}, spec: {mtls: {mode: STRICT}}}
  - {apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: a, namespace: shop}, spec: {action: CUSTOM, provider: {name: opa}, rules: [{to: [{operation: {paths: [/ask]}}]}]}}
  - {apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: d, namespace: shop}, spec: {action: DENY, rules: [{to: [{operation: {paths: [/admin]}}]}]}}
requests:
  - {from: spiffe://trust-domain.mesh/a, to: api/8080, path: [/, //admin, /x/..%2Fadmin], want: allow}
  - {from: spiffe://trust-domain.mesh/a, to: api/8080, path: [/ask, /admin], want: deny}
  - {from: plaintext, to: api/8080, want: handshake-failure}
`

// TestListenerMutants makes the mistakes in what policies say of a listener, and in what becomes of a
// request without an answer of its authorizer.
func TestListenerMutants(t *testing.T) {
	t.Parallel()
	h := harness.New(t, harness.WithRuntime(envoy.Process))
	score, err := mutation.Tester{Runner: suite.Runner{Harness: h}, OwnRequests: true}.Case(t.Context(), casetest.Parse(t, stated))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, v := range score.Mutants {
		switch v.Kind {
		case mistake.OtherMode, mistake.OtherPaths, mistake.FailModeInverted:
			if !v.KilledByOwn {
				t.Errorf("%s at %s survives: %s", v.Kind, v.Where, v.Reason)
			}
			got = append(got, v.Kind.String()+" at "+v.Where)
		}
	}
	want := []string{
		"fail mode of an authorizer inverted at gate 1, opa",
		"other mode of mTLS at the listener, which is permissive", "other mode of mTLS at the listener, which is disable",
		"paths normalized otherwise at the listener, which merges slashes",
		"paths normalized otherwise at the listener, whose action for escaped slashes is unescape",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
