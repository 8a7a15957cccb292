package kuma_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/internal/golden"
	"github.com/meshproof/meshproof/internal/property"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma"
	"github.com/meshproof/meshproof/policy/kuma/internal/evaluation"
	"github.com/meshproof/meshproof/policy/kuma/internal/fixture"
	"github.com/meshproof/meshproof/policy/kuma/internal/lint"
	"github.com/meshproof/meshproof/policy/kuma/internal/lowering"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/kuma/internal/selection"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
)

// TestPrograms lowers the policies of each archive for each inbound and compares
// selection, program and warnings with the archive's other files.
func TestPrograms(t *testing.T) {
	t.Parallel()
	golden.Archives(t, "programs/*.txtar", func(t *testing.T, input string) (got []txtar.File) {
		ps := fixture.Parse(t, input)
		for _, in := range fixture.Inbounds() {
			got = append(got, txtar.File{Name: fmt.Sprintf("%s (%s)", in, in.Protocol), Data: []byte(describe(t, ps, in))})
		}
		return append(got, txtar.File{Name: "lint", Data: []byte(lines(lint.Lint(ps, fixture.Inbounds(), permission.Options{})))})
	})
}

// describe prints all that is decided about one inbound.
func describe(t *testing.T, ps []permission.Policy, in policy.Inbound) string {
	t.Helper()
	var b strings.Builder
	sel := selection.Select(ps, in, permission.Options{})
	for _, p := range sel.Policies {
		fmt.Fprintf(&b, "selected %s\n", p)
	}
	for _, i := range sel.Ignored {
		fmt.Fprintf(&b, "ignored %s: %s\n", i.Policy, i.Reason)
	}
	program, warnings := lowering.Lower(sel, in, permission.Options{}), lint.BlindSpots(sel.Policies, in)
	if err := program.Check(); err != nil {
		t.Error(err)
	}
	b.WriteString(program.String())
	if len(program.Shadows) > 0 {
		precise := lowering.Lower(sel, in, permission.Options{ShadowForm: permission.Precise})
		if !(policy.Program{Gates: precise.Gates}).Equal(policy.Program{Gates: program.Gates}) {
			t.Error("the form of the shadow changes the gate")
		}
		b.WriteString("precise " + policy.Program{Shadows: precise.Shadows}.String())
	}
	b.WriteString(lines(warnings))
	return b.String()
}

func lines(warnings []policy.Warning) string {
	var b strings.Builder
	for _, w := range warnings {
		fmt.Fprintf(&b, "warning: %s\n", w)
	}
	return b.String()
}

// TestSpellings rewrites the policies of each archive: from the short spelling to
// rules, and from the universal to the Kubernetes form. Programs must not change,
// apart from the namespace that a Kubernetes policy has.
func TestSpellings(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/programs/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			docs, err := manifest.Parse("policies.yaml", archive.Files[0].Data)
			if err != nil {
				t.Fatal(err)
			}
			universal := fixture.Parse(t, string(archive.Files[0].Data))
			rules := fixture.Parse(t, rewrite(t, docs, longSpelling))
			kubernetes := fixture.Parse(t, rewrite(t, docs, kubernetesForm))
			both := fixture.Parse(t, rewrite(t, docs, longSpelling, kubernetesForm))
			for _, in := range fixture.Inbounds() {
				for _, form := range []permission.ShadowForm{permission.Accepted, permission.Precise} {
					want := lowered(universal, in, form)
					if diff := cmp.Diff(want, lowered(rules, in, form)); diff != "" {
						t.Errorf("%s, %s: rules differ from default:\n%s", in, form, diff)
					}
					want = strings.ReplaceAll(want, "kri_mtp_default___", "kri_mtp_default__kuma-system_")
					if diff := cmp.Diff(want, lowered(kubernetes, in, form)); diff != "" {
						t.Errorf("%s, %s: Kubernetes differs from universal:\n%s", in, form, diff)
					}
					if diff := cmp.Diff(want, lowered(both, in, form)); diff != "" {
						t.Errorf("%s, %s: Kubernetes rules differ from universal default:\n%s", in, form, diff)
					}
				}
			}
		})
	}
}

func lowered(ps []permission.Policy, in policy.Inbound, form permission.ShadowForm) string {
	opts := permission.Options{ShadowForm: form}
	program := lowering.Lower(selection.Select(ps, in, opts), in, opts)
	return program.String()
}

func rewrite(t *testing.T, docs []manifest.Document, how ...func(map[string]any) map[string]any) string {
	t.Helper()
	var b strings.Builder
	for _, doc := range docs {
		var tree map[string]any
		if err := doc.Decode(&tree); err != nil {
			t.Fatal(err)
		}
		for _, f := range how {
			tree = f(tree)
		}
		text, err := yaml.Marshal(tree)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "---\n%s", text)
	}
	return b.String()
}

func longSpelling(tree map[string]any) map[string]any {
	spec := tree["spec"].(map[string]any)
	if conf, ok := spec["default"]; ok {
		delete(spec, "default")
		spec["rules"] = []any{map[string]any{"default": conf}}
	}
	return tree
}

func kubernetesForm(tree map[string]any) map[string]any {
	labels := map[string]any{}
	if mesh, ok := tree["mesh"]; ok {
		labels["kuma.io/mesh"] = mesh
	}
	return map[string]any{
		"apiVersion": "kuma.io/v1alpha1",
		"kind":       tree["type"],
		"metadata": map[string]any{
			"name": tree["name"], "namespace": "kuma-system", "labels": labels, "annotations": map[string]any{"note": "x"},
		},
		"spec": tree["spec"],
	}
}

// TestEvaluateAgreesWithLower compares two independent readings of the same text.
func TestEvaluateAgreesWithLower(t *testing.T) {
	t.Parallel()
	property.Check(t, func(r *rapid.T) {
		yaml := fixture.DrawPolicies(r)
		ps := fixture.Parse(t, yaml)
		for _, in := range fixture.Inbounds() {
			for _, form := range []permission.ShadowForm{permission.Accepted, permission.Precise} {
				opts := permission.Options{ShadowForm: form}
				program := lowering.Lower(selection.Select(ps, in, opts), in, opts)
				if err := program.Check(); err != nil {
					r.Fatal(err)
				}
				request := fixture.DrawRequest(r)
				if in.Protocol == policy.TCP {
					request.Method, request.Path = "", ""
				}
				want, got := evaluation.ForInbound(ps, in, opts)(request), policy.Decide(program, request)
				if diff := cmp.Diff(want, got); diff != "" {
					r.Fatalf("%s %s %+v (-text +program):\n%s\n%s\n%s", in, form, request, diff, yaml, program)
				}
			}
		}
	})
}

// TestOrderOfPoliciesDoesNotMatter shuffles the input.
func TestOrderOfPoliciesDoesNotMatter(t *testing.T) {
	t.Parallel()
	property.Check(t, func(r *rapid.T) {
		ps := fixture.Parse(t, fixture.DrawPolicies(r))
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 0))
		for _, in := range fixture.Inbounds() {
			want := lowering.Lower(selection.Select(ps, in, permission.Options{}), in, permission.Options{})
			random.Shuffle(len(ps), func(i, j int) { ps[i], ps[j] = ps[j], ps[i] })
			got := lowering.Lower(selection.Select(ps, in, permission.Options{}), in, permission.Options{})
			if !got.Equal(want) {
				r.Fatalf("want\n%s\ngot\n%s", want, got)
			}
		}
	})
}

func TestNotes(t *testing.T) {
	t.Parallel()
	const (
		option2 = "option2: Envoy names no policy: every action is called MeshTrafficPermission"
		option3 = "option3: Envoy names no policy: an action is called Deny, Allow or AllowWithShadowDeny"
		counts  = "shadow_denied counts 2 of the requests that are plainly allowed: the accepted form of the shadow has no allow list and ends in deny by default; " +
			"read the shadow's policy of each request instead, in Kuma up to 2.14 in the access log (shadow_effective_policy_id), or set options: {shadowForm: precise} for a compiler that has this form"
	)
	plain := policy.Decision{Verdict: policy.Verdict{Effect: policy.Allow}, Shadowed: true, Shadow: policy.Verdict{Origin: "default"}}
	denied := policy.Decision{Shadowed: true, Shadow: policy.Verdict{Origin: "default"}}
	named := policy.Decision{Verdict: policy.Verdict{Effect: policy.Allow}, Shadowed: true, Shadow: policy.Verdict{Origin: "kri_mtp_default___p_"}}
	allowed := policy.Decision{Verdict: policy.Verdict{Effect: policy.Allow}, Shadowed: true, Shadow: policy.Verdict{Effect: policy.Allow, Origin: "Allow"}}
	unshadowed := policy.Decision{Verdict: policy.Verdict{Effect: policy.Allow}}
	for _, tt := range []struct {
		options  string
		observed []policy.Decision
		want     []string
	}{
		{"{}", nil, nil},
		{"{}", []policy.Decision{denied, named, unshadowed}, nil},
		{"{}", []policy.Decision{plain, denied, plain, named}, []string{counts}},
		{"{shadowForm: precise}", []policy.Decision{plain, plain}, nil},
		{"{kumaOption: 2}", []policy.Decision{plain, plain}, []string{option2, counts}},
		{"{kumaOption: 3}", []policy.Decision{denied}, []string{option3}},
		{"{kumaOption: 3}", []policy.Decision{allowed}, []string{option3 + "; its shadow allows what is plainly allowed, under any shadowForm"}},
	} {
		docs, err := manifest.Parse("options.yaml", []byte(tt.options))
		if err != nil {
			t.Fatal(err)
		}
		set, err := kuma.Dialect.Parse(nil, language.Options{Document: docs[0]})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, set.Notes(tt.observed)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.options, diff)
		}
	}
}
