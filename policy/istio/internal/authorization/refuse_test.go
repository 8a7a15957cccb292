package authorization_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/meshproof/meshproof/internal/dialecttest"
	"github.com/meshproof/meshproof/internal/golden"
	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/istio/internal/authorization"
	"github.com/meshproof/meshproof/policy/istio/internal/evaluation"
	"github.com/meshproof/meshproof/policy/manifest"
)

// TestRefusals compares the error of each policy in the archive with the text in the comment
// above the policy.
func TestRefusals(t *testing.T) {
	t.Parallel()
	golden.Refusals(t, "refusals.txtar", dialecttest.Refusal(authorization.ParseAll))
}

func TestOwnedDocuments(t *testing.T) {
	t.Parallel()
	dialecttest.Owned(t, authorization.Owns, map[string]bool{
		"{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy}":                              true,
		"{apiVersion: security.istio.io/v1beta1, kind: AuthorizationPolicy}":                         true,
		"{apiVersion: security.istio.io/v9, kind: AuthorizationPolicy}":                              true,
		"{apiVersion: security.istio.io/v1, kind: PeerAuthentication}":                               false,
		"{apiVersion: gateway.networking.k8s.io/v1, kind: AuthorizationPolicy}":                      false,
		"{apiVersion: policy.linkerd.io/v1alpha1, kind: AuthorizationPolicy}":                        false,
		"{type: MeshTrafficPermission, apiVersion: security.istio.io/v1, kind: AuthorizationPolicy}": true,
		"[AuthorizationPolicy]": false,
	})
}

// FuzzParseAll feeds any text: accepted policies can be selected, lowered and judged, and both
// opinions agree.
func FuzzParseAll(f *testing.F) {
	archive, err := txtar.ParseFile("testdata/programs/rules.txtar")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(archive.Files[0].Data, "spiffe://td/ns/a/sa/x", "GET", "/a")
	f.Fuzz(func(t *testing.T, data []byte, uri, method, path string) {
		docs, err := manifest.Parse("f.yaml", data)
		if err != nil {
			return
		}
		ps, err := authorization.ParseAll(docs)
		if err != nil {
			return
		}
		authorization.Lint(ps, inbounds(), options, func(policy.Inbound) (none token.Demand) { return })
		for _, in := range inbounds() {
			r := policy.Request{URIs: []string{uri}}
			if in.Protocol != policy.TCP {
				r.Method, r.Path = method, path
			}
			program := authorization.Lower(authorization.Select(ps, in, options), in, options)
			if err := program.Check(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(evaluation.ForInbound(ps, in, options)(r), policy.Decide(program, r)); diff != "" {
				t.Fatalf("%s %+v (-text +program):\n%s\n%s", in, r, diff, program)
			}
		}
	})
}
