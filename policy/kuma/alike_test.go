package kuma_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/property"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/conversion"
	"github.com/meshproof/meshproof/policy/kuma/internal/evaluation"
	"github.com/meshproof/meshproof/policy/kuma/internal/fixture"
	"github.com/meshproof/meshproof/policy/kuma/internal/lowering"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/kuma/internal/selection"
	"github.com/meshproof/meshproof/policy/manifest"
)

// reading is a set of policies as one option and one form of the shadow read it.
type reading struct {
	opts     permission.Options
	policies []permission.Policy
	program  policy.Program
}

func (r reading) String() string { return fmt.Sprintf("%s, %s", r.opts.Option, r.opts.ShadowForm) }

// comparison compares the readings of one inbound.
type comparison struct {
	inbound  policy.Inbound
	readings []reading
}

// convertAll returns policies that were written for Option 1 as each option reads
// them.
func convertAll(t testing.TB, ps []permission.Policy) map[permission.Option][]permission.Policy {
	t.Helper()
	return map[permission.Option][]permission.Policy{
		permission.Option1: ps, permission.Option2: fixture.Convert(t, ps, permission.Option2), permission.Option3: fixture.Convert(t, ps, permission.Option3),
	}
}

func newAlike(t testing.TB, ps map[permission.Option][]permission.Policy, in policy.Inbound, opts permission.Options) comparison {
	t.Helper()
	a := comparison{inbound: in}
	for _, opts.Option = range fixture.EveryOption {
		converted := ps[opts.Option]
		for _, opts.ShadowForm = range []permission.ShadowForm{permission.Precise, permission.Accepted} {
			program := lowering.Lower(selection.Select(converted, in, opts), in, opts)
			if err := program.Check(); err != nil {
				t.Fatal(err)
			}
			a.readings = append(a.readings, reading{opts, converted, program})
		}
	}
	return a
}

// differ returns the differences of two readings that must not be. By design the origins
// differ, except "default". The effect of the shadow differs too, unless its form is precise
// or the option is the third.
func (a comparison) differ(r policy.Request) string {
	first := policy.Decide(a.readings[0].program, r)
	for _, reading := range a.readings {
		got := policy.Decide(reading.program, r)
		if second := evaluation.ForInbound(reading.policies, a.inbound, reading.opts)(r); second != got {
			return fmt.Sprintf("%s: Evaluate says %+v, Decide %+v:\n%s", reading, second, got, reading.program)
		}
		precise := reading.opts.Option == permission.Option3 || reading.opts.ShadowForm == permission.Precise
		switch {
		case got.Effect != first.Effect || got.Layer != first.Layer || got.Shadowed != first.Shadowed,
			(got.Origin == "default") != (first.Origin == "default"),
			precise && got.Shadow.Effect != first.Shadow.Effect:
			return fmt.Sprintf("%s: %+v, %s: %+v\n%s", reading, got, a.readings[0], first, reading.program)
		}
	}
	return ""
}

// TestOptionsDecideAlike converts any policies.
func TestOptionsDecideAlike(t *testing.T) {
	t.Parallel()
	property.Check(t, func(r *rapid.T) {
		yaml := fixture.DrawPolicies(r)
		ps := convertAll(t, fixture.Parse(t, yaml))
		for _, in := range fixture.Inbounds() {
			request := fixture.DrawRequest(r)
			if in.Protocol == policy.TCP {
				request.Method, request.Path = "", ""
			}
			if diff := newAlike(t, ps, in, permission.Options{}).differ(request); diff != "" {
				r.Fatalf("%s %+v: %s\n%s", in, request, diff, yaml)
			}
		}
	})
}

// TestOptionsDecideAlikeOnEveryCase converts the policies of every case that is
// written for Option 1, and asks for the values of its matchers and their
// neighbours, all combined.
func TestOptionsDecideAlikeOnEveryCase(t *testing.T) {
	t.Parallel()
	all, err := cases.Load("../../cases/kuma")
	if err != nil {
		t.Fatal(err)
	}
	held, asked := 0, 0
	for _, c := range all {
		var opts permission.Options
		if err := c.Options.Document.Decode(&opts); err != nil {
			t.Fatal(err)
		}
		if c.ExpectError != "" || opts.Option != permission.Option1 {
			continue
		}
		ps, err := permission.ParseAll(c.Policies)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conversion.Convert(ps, permission.Option3); err != nil && strings.Contains(err.Error(), "spec.from: ") {
			continue
		}
		held++
		byOption := convertAll(t, ps)
		for _, in := range c.Inbounds {
			a := newAlike(t, byOption, in.Inbound, opts)
			for _, r := range boundary(t, c.Policies, in.Protocol.Layer()) {
				asked++
				if diff := a.differ(r); diff != "" {
					t.Fatalf("%s: %s %+v: %s", c.Place, in, r, diff)
				}
			}
		}
	}
	t.Logf("%d cases, %d requests", held, asked)
	if held < 50 || asked < 10_000 {
		t.Errorf("only %d cases and %d requests were held against each other", held, asked)
	}
}

// boundary returns requests on and next to the values of all matchers. A set with
// very many identities is sampled.
func boundary(t *testing.T, docs []manifest.Document, layer policy.Layer) []policy.Request {
	t.Helper()
	ids, paths, methods := []string{""}, []string{"/", "*"}, []string{"GET", "HEAD"}
	for _, doc := range docs {
		var tree any
		if err := doc.Decode(&tree); err != nil {
			t.Fatal(err)
		}
		matchers(tree, func(key, v string) {
			switch key {
			case "method":
				methods = append(methods, v)
			case "path":
				paths = append(paths, v, v+"/", v+"/x", v+"x", v+"?q=/", v[:len(v)-1])
			case "spiffeId", "spiffeID":
				ids = append(ids, v, v+"/x", v+"x", v[:len(v)-1], strings.TrimSuffix(v, "/")+"-evil/sa/x")
			}
		})
	}
	if layer == policy.L4 {
		paths, methods = []string{""}, []string{""}
	}
	const most = 100
	var out []policy.Request
	ids, paths, methods = distinct(ids), distinct(paths), distinct(methods)
	for i := 0; i < len(ids); i += 1 + len(ids)/most {
		var uris []string
		if ids[i] != "" {
			uris = []string{ids[i]}
		}
		for _, path := range paths {
			for _, method := range methods {
				out = append(out, policy.Request{URIs: uris, Path: path, Method: method})
			}
		}
	}
	return out
}

func distinct(values []string) []string {
	slices.Sort(values)
	return slices.Compact(values)
}

// matchers visits each field of each matcher of a policy.
func matchers(tree any, visit func(key, value string)) {
	switch tree := tree.(type) {
	case []any:
		for _, item := range tree {
			matchers(item, visit)
		}
	case map[string]any:
		for key, value := range tree {
			switch value := value.(type) {
			case string:
				visit(key, value)
			case map[string]any:
				if text, ok := value["value"].(string); ok {
					visit(key, text)
				}
				matchers(value, visit)
			default:
				matchers(value, visit)
			}
		}
	}
}
