package permission_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/meshproof/meshproof/internal/dialecttest"
	"github.com/meshproof/meshproof/internal/golden"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/evaluation"
	"github.com/meshproof/meshproof/policy/kuma/internal/fixture"
	"github.com/meshproof/meshproof/policy/kuma/internal/lint"
	"github.com/meshproof/meshproof/policy/kuma/internal/lowering"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/kuma/internal/selection"
	"github.com/meshproof/meshproof/policy/manifest"
)

var refusals = []string{"refusals.txtar", "refusals-from.txtar"}

// TestRefusals holds each policy of the archives that must be refused against the
// exact text of its error, which stands in the comment line above it.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, name := range refusals {
		golden.Refusals(t, name, refusal)
	}
}

// refusal returns the error of a file whose first line was cut off; the lines
// counted are those without it.
func refusal(t *testing.T, file, body string) string {
	t.Helper()
	docs, err := manifest.Parse("p.yaml", []byte(body))
	if err != nil {
		t.Fatalf("%s: not even YAML: %v", file, err)
	}
	ps, err := permission.ParseAll(docs)
	if err == nil {
		t.Fatalf("%s: not refused:\n%s", file, body)
	}
	if ps != nil {
		t.Errorf("policies beside an error: %v", ps)
	}
	if !errors.As(err, new(*manifest.Error)) {
		t.Errorf("error has no place: %v", err)
	}
	return strings.ReplaceAll(err.Error(), "\n", " and ")
}

func TestParseTakesBothSpellingsOfTheIdentity(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"spiffeId", "spiffeID"} {
		ps := fixture.Parse(t, "{type: MeshTrafficPermission, name: x, spec: {default: {allow: [{"+key+": {type: Exact, value: spiffe://td/a}}]}}}")
		in := fixture.Inbounds()[0]
		selected := selection.Select(ps, in, permission.Options{})
		if got := lowering.Lower(selected, in, permission.Options{}).String(); !strings.Contains(got, `allow by kri_mtp_default___x_ when identity = "spiffe://td/a"`) {
			t.Errorf("%s: %s", key, got)
		}
	}
}

func TestOwnedDocuments(t *testing.T) {
	t.Parallel()
	dialecttest.Owned(t, permission.Owns, map[string]bool{
		"type: MeshTrafficPermission":                                 true,
		"{apiVersion: kuma.io/v1alpha1, kind: MeshTrafficPermission}": true,
		"{apiVersion: kuma.io/v9, kind: MeshTrafficPermission}":       true,
		"{apiVersion: example.org/v1, kind: MeshTrafficPermission}":   false,
		"{apiVersion: kuma.io/v1alpha1, kind: MeshTimeout}":           false,
		"type: MeshTimeout":           false,
		"kind: MeshTrafficPermission": false,
		"[MeshTrafficPermission]":     false,
		"{type: [MeshTrafficPermission], apiVersion: 1, kind: {a: b}, other: x}": false,
	})
}

func FuzzParseAll(f *testing.F) {
	for _, name := range refusals {
		archive, err := txtar.ParseFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range archive.Files {
			f.Add(file.Data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		docs, err := manifest.Parse("f.yaml", data)
		if err != nil {
			return
		}
		ps, err := permission.ParseAll(docs)
		if err != nil {
			return
		}
		lint.Lint(ps, fixture.Inbounds(), permission.Options{})
		for _, in := range fixture.Inbounds() {
			program := lowering.Lower(selection.Select(ps, in, permission.Options{}), in, permission.Options{})
			if err := program.Check(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

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
			if first, second := policy.Decide(program, r), evaluation.ForInbound(ps, in, permission.Options{})(r); first != second {
				t.Fatalf("%+v: Decide says %+v, Evaluate %+v:\n%s", r, first, second, program)
			}
		}
		if d := policy.Decide(program, own); d.Effect != policy.Deny || d.Origin == "default" {
			t.Fatalf("%+v is what the matcher names, and it says %s:\n%s", own, d.Verdict, program)
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
