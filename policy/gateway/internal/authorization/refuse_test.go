package authorization_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/meshproof/meshproof/internal/dialecttest"
	"github.com/meshproof/meshproof/internal/golden"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/gateway/internal/authorization"
	"github.com/meshproof/meshproof/policy/gateway/internal/evaluation"
	"github.com/meshproof/meshproof/policy/manifest"
)

const refusals = "testdata/refusals.txtar"

// TestRefusals compares the error of each policy in the archive with the text in the comment
// above the policy.
func TestRefusals(t *testing.T) {
	t.Parallel()
	golden.Refusals(t, "refusals.txtar", dialecttest.Refusal(authorization.ParseAll))
}

func TestOwnedDocuments(t *testing.T) {
	t.Parallel()
	dialecttest.Owned(t, authorization.Owns, map[string]bool{
		"{apiVersion: gateway.networking.x-k8s.io/v1alpha1, kind: XAuthorizationPolicy}": true,
		"{apiVersion: gateway.networking.k8s.io/v1, kind: AuthorizationPolicy}":          true,
		"{apiVersion: gateway.networking.k8s.io/v9, kind: AuthorizationPolicy}":          true,
		"{apiVersion: gateway.networking.k8s.io, kind: AuthorizationPolicy}":             true,
		// The wrong one of the two groups is reported by Parse.
		"{apiVersion: gateway.networking.k8s.io/v1, kind: XAuthorizationPolicy}":                             true,
		"{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy}":                                      false,
		"{apiVersion: policy.linkerd.io/v1alpha1, kind: AuthorizationPolicy}":                                false,
		"{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute}":                                        false,
		"{apiVersion: gateway.networking.k8s.io.example/v1, kind: AuthorizationPolicy}":                      false,
		"{type: MeshTrafficPermission, apiVersion: gateway.networking.k8s.io/v1, kind: AuthorizationPolicy}": true,
		"kind: AuthorizationPolicy": false,
		"[AuthorizationPolicy]":     false,
	})
}

// FuzzParseAll feeds any text: accepted policies can be selected, lowered, printed
// and read again.
func FuzzParseAll(f *testing.F) {
	archive, err := txtar.ParseFile(refusals)
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range archive.Files {
		f.Add(file.Data, "spiffe://td/a")
	}
	f.Add([]byte(one("p", "{matchExpressions: [{key: a, operator: NotIn, values: [b]}]}", "[{sources: [{type: ServiceAccount, serviceAccount: {name: a}}]}, {}]")), "spiffe://td/ns/default/sa/a")
	f.Fuzz(func(t *testing.T, data []byte, uri string) {
		docs, err := manifest.Parse("f.yaml", data)
		if err != nil {
			return
		}
		for _, doc := range docs {
			authorization.Status(doc, []policy.Workload{inbounds()[0].Workload})
			objects, _ := authorization.Objects([]manifest.Document{doc}, nil)
			if _, err := json.Marshal(objects); err != nil {
				t.Fatal(err)
			}
		}
		ps, err := authorization.ParseAll(docs)
		if err != nil {
			return
		}
		authorization.Lint(ps, inbounds())
		for _, in := range inbounds() {
			program := authorization.Lower(authorization.Select(ps, in), in, options)
			if err := program.Check(); err != nil {
				t.Fatal(err)
			}
			r := policy.Request{URIs: []string{uri}}
			if want, got := evaluation.ForInbound(ps, in, options)(r), policy.Decide(program, r); want != got {
				t.Fatalf("%s: %q: Decide says %+v, Evaluate %+v", in, uri, got, want)
			}
		}
		for _, p := range ps {
			if diff := cmp.Diff(p.Resource(), reparse(t, p).Resource()); diff != "" {
				t.Fatalf("(-before +after):\n%s", diff)
			}
		}
	})
}

// FuzzSource has any values as the sources of a rule, and any caller. If the sources are
// accepted, both opinions agree, and the named SPIFFE ID gets in.
func FuzzSource(f *testing.F) {
	f.Add("spiffe://td/ns/a/sa/x", "a", "x", "spiffe://td/ns/a/sa/x", "x")
	f.Add("spiffe://td/a", "a", "*", "spiffe://td/ns/a/sa/", "spiffe://td/ns/a/sa/x")
	f.Add("spiffe://td/*", "a/sa/x", "*/..", "", "")
	f.Add("spiffe://td", "", "a.b", "spiffe://td/ns/default/sa/a.b", "")
	f.Fuzz(func(t *testing.T, id, namespace, name, uri, dns string) {
		account := map[string]any{"name": name}
		if namespace != "" {
			account["namespace"] = namespace
		}
		sources, err := json.Marshal([]map[string]any{
			{"type": "SPIFFE", "spiffe": id}, {"type": "ServiceAccount", "serviceAccount": account},
		})
		if err != nil {
			t.Fatal(err)
		}
		docs, err := manifest.Parse("f.yaml", []byte(one("p", "{}", "[{sources: "+string(sources)+"}]")))
		if err != nil {
			return
		}
		ps, err := authorization.ParseAll(docs)
		if err != nil {
			return
		}
		in := inbounds()[0]
		program := authorization.Lower(authorization.Select(ps, in), in, options)
		if err := program.Check(); err != nil {
			t.Fatal(err)
		}
		named := policy.Request{URIs: []string{id}}
		for _, r := range []policy.Request{named, {URIs: []string{uri}}, {URIs: []string{"x", uri}, DNS: []string{dns}}, {DNS: []string{dns}}} {
			if first, second := policy.Decide(program, r), evaluation.ForInbound(ps, in, options)(r); first != second {
				t.Fatalf("%+v: Decide says %+v, Evaluate %+v:\n%s", r, first, second, program)
			}
		}
		if d := policy.Decide(program, named); d.Effect != policy.Allow {
			t.Fatalf("%q is named, and the program says %s:\n%s", id, d.Verdict, program)
		}
	})
}
