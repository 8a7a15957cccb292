package permission_test

import (
	"encoding/json"
	"testing"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/evaluation"
	"github.com/meshproof/meshproof/policy/kuma/internal/fixture"
	"github.com/meshproof/meshproof/policy/kuma/internal/lowering"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/kuma/internal/selection"
	"github.com/meshproof/meshproof/policy/manifest"
)

// FuzzMatcher feeds any values as a matcher, and any request: where the matcher is
// accepted, both opinions agree, and a caller of the very identity, path and method is
// denied by it.
func FuzzMatcher(f *testing.F) {
	f.Add("Exact", "spiffe://td/ns/a/sa/x", "Prefix", "/a/", "GET", "spiffe://td/ns/a/sa/x", "/a/b?c", "GET")
	f.Add("Prefix", "spiffe://td/ns/a", "Exact", "/a", "", "spiffe://td/ns/ab", "/a?", "HEAD")
	f.Add("Prefix", "spiffe://", "Prefix", "/", "!#$%&'*+-.^_`|~", "spiffe://td,spiffe://td2", "*", "get")
	f.Add("exact", "spiffe://td/", "", "a", "get", "", "", "")
	f.Add("Prefix", "spiffe://td//", "Prefix", "//", "", "spiffe://td//a", "//", "")
	f.Fuzz(func(t *testing.T, idType, id, pathType, path, method, uri, target, verb string) {
		ps := oneMatcher(t, idType, id, pathType, path, method)
		if ps == nil {
			return
		}
		in := fixture.Inbounds()[0]
		program := lowering.Lower(selection.Select(ps, in, permission.Options{}), in, permission.Options{})
		if err := program.Check(); err != nil {
			t.Fatal(err)
		}
		own := policy.Request{URIs: []string{id}, Path: path, Method: method}
		for _, r := range []policy.Request{own, {URIs: []string{uri}, Path: target, Method: verb}} {
			if first, second := policy.Decide(program, r), evaluation.Evaluate(ps, in, permission.Options{}, r); first != second {
				t.Fatalf("%q: Decide says %+v, Evaluate %+v:\n%s", r, first, second, program)
			}
		}
		if d := policy.Decide(program, own); d.Effect != policy.Deny || d.Origin == "default" {
			t.Fatalf("%q is what the matcher names, and it says %s:\n%s", own, d.Verdict, program)
		}
	})
}

// oneMatcher is a policy that denies by a matcher of these values and allows the rest;
// an empty value is left out. It is nil where the policy is refused.
func oneMatcher(t *testing.T, idType, id, pathType, path, method string) []permission.Policy {
	t.Helper()
	type object = map[string]any
	m := object{}
	if id != "" {
		m["spiffeId"] = object{"type": idType, "value": id}
	}
	if path != "" {
		m["path"] = object{"type": pathType, "value": path}
	}
	if method != "" {
		m["method"] = method
	}
	everybody := object{"path": object{"type": "Prefix", "value": "/"}}
	text, err := json.Marshal(object{
		"type": "MeshTrafficPermission", "name": "p", "spec": object{"default": object{"deny": []object{m}, "allow": []object{everybody}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	docs, err := manifest.Parse("p.yaml", text)
	if err != nil {
		return nil
	}
	ps, err := permission.ParseAll(docs)
	if err != nil {
		return nil
	}
	return ps
}
