package dialect_test

import (
	"testing"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/dialect"
	"github.com/meshproof/meshproof/policy/manifest"
)

// FuzzAgreement has any text as policies, and any request. If the policies are accepted, their
// program is valid and both opinions agree.
func FuzzAgreement(f *testing.F) {
	for _, yaml := range []string{
		"", fixture, ofGateway, "type: MeshTrafficPermission\nname: p\n", "type: MeshTimeout\n", "- a\n",
		"{type: MeshTrafficPermission, name: p, spec: {rules: [{default: {deny: [{method: GET}, {path: {type: Prefix, value: /}}], allowWithShadowDeny: []}}]}}",
		"{type: MeshTrafficPermission, name: p, spec: {targetRef: {kind: Dataplane, sectionName: api}, default: {allow: [{spiffeID: {type: Exact, value: spiffe://td}}]}}}",
	} {
		f.Add([]byte(yaml), "spiffe://td/web", "GET", "/health?x", true)
	}
	f.Fuzz(func(t *testing.T, yaml []byte, uri, method, path string, precise bool) {
		docs, err := manifest.Parse("f.yaml", yaml)
		if err != nil {
			return
		}
		form := "shadowForm: accepted"
		if precise {
			form = "shadowForm: precise"
		}
		set, err := dialect.Parse(docs, options(t, form))
		if err != nil {
			return
		}
		set.Lint(inbounds())
		for _, in := range inbounds() {
			program := set.Program(in).Program
			if err := program.Check(); err != nil {
				t.Fatal(err)
			}
			r := policy.Request{URIs: []string{uri}}
			if in.Protocol.Layer() == policy.L7 {
				r.Method, r.Path = method, path
			}
			if want, got := policy.Decide(program, r), set.Evaluate(in, r); want != got {
				t.Fatalf("%s: %+v: Decide says %+v, Evaluate %+v:\n%s", in, r, want, got, program)
			}
		}
	})
}
