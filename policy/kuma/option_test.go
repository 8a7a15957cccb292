package kuma_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/internal/golden"
	"github.com/meshproof/meshproof/internal/property"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/evaluation"
	"github.com/meshproof/meshproof/policy/kuma/internal/fixture"
	"github.com/meshproof/meshproof/policy/kuma/internal/lint"
	"github.com/meshproof/meshproof/policy/kuma/internal/lowering"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/kuma/internal/selection"
	"github.com/meshproof/meshproof/policy/manifest"
)

// TestOptionPrograms lowers the policies of each archive in testdata/option2 and
// option3 for each inbound.
func TestOptionPrograms(t *testing.T) {
	t.Parallel()
	for _, option := range []permission.Option{permission.Option2, permission.Option3} {
		t.Run(option.String(), func(t *testing.T) {
			t.Parallel()
			golden.Archives(t, option.String()+"/*.txtar", func(t *testing.T, input string) (got []txtar.File) {
				ps := fixture.Parse(t, input)
				if err := permission.CheckForms(ps, permission.Options{Option: option}); err != nil {
					t.Fatal(err)
				}
				for _, in := range fixture.Inbounds() {
					text := describeOption(t, ps, in, option)
					got = append(got, txtar.File{Name: fmt.Sprintf("%s (%s)", in, in.Protocol), Data: []byte(text)})
				}
				return append(got, txtar.File{Name: "lint", Data: []byte(lines(lint.Lint(ps, fixture.Inbounds(), permission.Options{Option: option})))})
			})
		})
	}
}

// describeOption prints the program, and the shadow of the precise form where it
// differs.
func describeOption(t *testing.T, ps []permission.Policy, in policy.Inbound, option permission.Option) string {
	t.Helper()
	sel := selection.Select(ps, in, permission.Options{})
	program := lowering.Lower(sel, in, permission.Options{Option: option})
	precise := lowering.Lower(sel, in, permission.Options{Option: option, ShadowForm: permission.Precise})
	if err := program.Check(); err != nil {
		t.Error(err)
	}
	text := program.String()
	if !precise.Equal(program) {
		text += "precise " + policy.Program{Shadows: precise.Shadows}.String()
	}
	return text
}

// drawConditions draws policies of Option 3. Some rules match every request, and some match
// none.
func drawConditions(t *rapid.T) string {
	var b strings.Builder
	for i := range rapid.IntRange(0, 4).Draw(t, "policies") {
		var rules []string
		for range rapid.IntRange(0, 3).Draw(t, "rules") {
			conditions := ""
			if rapid.IntRange(0, 9).Draw(t, "everybody") > 0 {
				conditions = "conditions: [" + strings.Join(rapid.SliceOfN(rapid.Custom(fixture.DrawMatcher), 0, 3).Draw(t, "conditions"), ", ") + "], "
			}
			rules = append(rules, "{"+conditions+"default: {action: "+rapid.SampledFrom([]string{"Deny", "Allow", "AllowWithShadowDeny"}).Draw(t, "action")+"}}")
		}
		target := rapid.SampledFrom([]string{"{}", "{kind: Dataplane}", "{kind: Dataplane, sectionName: http-port}"}).Draw(t, "target")
		fmt.Fprintf(&b, "---\n{type: MeshTrafficPermission, name: p%d, spec: {targetRef: %s, rules: [%s]}}\n", i, target, strings.Join(rules, ", "))
	}
	return b.String()
}

// TestTreeAgreesWithText compares the text of Option 3 with the program, the full tree and
// the pruned tree.
func TestTreeAgreesWithText(t *testing.T) {
	t.Parallel()
	opts := permission.Options{Option: permission.Option3}
	property.Check(t, func(r *rapid.T) {
		yaml := drawConditions(r)
		ps := fixture.Parse(t, yaml)
		for _, in := range fixture.Inbounds() {
			sel := selection.Select(ps, in, opts)
			program := lowering.Lower(sel, in, opts)
			if err := program.Check(); err != nil {
				r.Fatal(err)
			}
			request := fixture.DrawRequest(r)
			if in.Protocol == policy.TCP {
				request.Method, request.Path = "", ""
			}
			want := evaluation.ForInbound(ps, in, opts)(request)
			if diff := cmp.Diff(want, policy.Decide(program, request)); diff != "" {
				r.Fatalf("%s %+v (-text +program):\n%s\n%s\n%s", in, request, diff, yaml, program)
			}
			full, err := lowering.Tree(sel, in)
			if err != nil {
				r.Fatal(err)
			}
			if full, pruned := full.Decide(&request), full.Prune().Decide(&request); full != pruned || full.Denies() != (want.Effect == policy.Deny) {
				r.Fatalf("%s %+v: the full tree says %s, the pruned one %s, the text %s:\n%s", in, request, full, pruned, want.Verdict, yaml)
			}
		}
	})
}

// TestCheckForms holds that an option refuses forms that it does not read. The error says
// where they are and what to do.
func TestCheckForms(t *testing.T) {
	t.Parallel()
	const (
		short      = "default: {allow: [{method: GET}]}"
		one        = "rules: [{default: {allow: [{method: GET}]}}]"
		two        = "rules: [{default: {allow: [{method: GET}]}}, {default: {deny: []}}]"
		conditions = "rules: [{conditions: [{method: GET}], default: {action: Allow}}]"
		everybody  = "rules: [{default: {action: Allow}}]"
		nothing    = "rules: [{default: {}}, {default: {}}]"
		lists      = "%s has lists instead of conditions: choose option3, or rewrite the policy with meshproof convert --to %[1]s"
		noLists    = "spec.rules[0].default: option3 has conditions instead of lists: choose option1, or rewrite the policy with meshproof convert --to option3"
	)
	for _, tt := range []struct {
		spec string
		// want are the errors under the three options, less the place of the policy.
		want [3]string
	}{
		{short, [3]string{2: strings.Replace(noLists, "spec.rules[0].default", "spec.default", 1)}},
		{one, [3]string{2: noLists}},
		{two, [3]string{1: "spec.rules[1].default: option2 has a single item: choose option1, or rewrite the policy with meshproof convert --to option2", 2: noLists}},
		{conditions, [3]string{"spec.rules[0].conditions: " + fmt.Sprintf(lists, "option1"), "spec.rules[0].conditions: " + fmt.Sprintf(lists, "option2")}},
		{everybody, [3]string{"spec.rules[0].conditions: " + fmt.Sprintf(lists, "option1"), "spec.rules[0].conditions: " + fmt.Sprintf(lists, "option2")}},
		{nothing, [3]string{}},
		{"{}", [3]string{}},
	} {
		spec := "{" + tt.spec + "}"
		if tt.spec == "{}" {
			spec = tt.spec
		}
		ps := fixture.Parse(t, "{type: MeshTrafficPermission, name: p, spec: "+spec+"}")
		for i, option := range fixture.EveryOption {
			got := ""
			if err := permission.CheckForms(ps, permission.Options{Option: option}); err != nil {
				got = strings.TrimPrefix(err.Error(), "policies.yaml:1: ")
			}
			if got != tt.want[i] {
				t.Errorf("%s under %s:\n got %q\nwant %q", tt.spec, option, got, tt.want[i])
			}
		}
	}
}

// TestRefusedConditions holds that Option 3 refuses conditions that it does not know, with
// their place.
func TestRefusedConditions(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ spec, want string }{
		{"{rules: [{conditions: [{method: GET}], default: {allow: [{method: GET}]}}]}", "spec.rules[0].default.allow: must not be set beside conditions: conditions go with an action, lists go without them"},
		{"{rules: [{conditions: [{method: GET}], default: {action: Deny, deny: []}}]}", "spec.rules[0].default.deny: must not be set beside conditions: conditions go with an action, lists go without them"},
		{"{rules: [{default: {action: Deny, deny: []}}]}", "spec.rules[0].default.action: must not be set beside deny: write an action, or lists"},
		{"{rules: [{conditions: [{method: GET}]}]}", "spec.rules[0].default.action: the action is missing: use Deny, Allow or AllowWithShadowDeny"},
		{"{rules: [{conditions: [{method: GET}], default: {action: DENY}}]}", `spec.rules[0].default.action: action "DENY" is unknown: use Deny, Allow or AllowWithShadowDeny`},
		{"{rules: [{conditions: [{method: GET}], default: {action: Nothing}}]}", `spec.rules[0].default.action: action "Nothing" is unknown: use Deny, Allow or AllowWithShadowDeny`},
		{"{rules: [{conditions: [{}], default: {action: Deny}}]}", "spec.rules[0].conditions[0]: an empty matcher is not allowed: set spiffeId, sni, path or method"},
		{"{rules: [{conditions: [{method: get}], default: {action: Deny}}]}", "spec.rules[0].conditions[0].method: methods are case sensitive: write GET instead of get"},
		{"{rules: [{conditions: {method: GET}, default: {action: Deny}}]}", "spec.rules[0].conditions: expected a list, found a mapping"},
		{"{rules: [{conditions: [{method: GET}], default: {action: Deny}}, {default: {allow: []}}]}", "spec.rules[1].default: lists and conditions must not stand in one policy: no option reads both"},
		{"{default: {action: Deny}}", "spec.default.action: an action belongs to an item of rules, beside its conditions"},
	} {
		_, err := permission.ParseAll(manifestOf(t, "{type: MeshTrafficPermission, name: p, spec: "+tt.spec+"}"))
		if want := "policies.yaml:1: " + tt.want; err == nil || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", tt.spec, err, want)
		}
	}
}

func manifestOf(t *testing.T, yaml string) []manifest.Document {
	t.Helper()
	docs, err := manifest.Parse("policies.yaml", []byte(yaml))
	if err != nil {
		t.Fatal(err)
	}
	return docs
}

func TestOptionText(t *testing.T) {
	t.Parallel()
	for i, option := range fixture.EveryOption {
		for _, text := range []string{option.String(), fmt.Sprint(i + 1)} {
			var got permission.Option
			if err := got.UnmarshalText([]byte(text)); err != nil || got != option {
				t.Errorf("%s reads back as %s, %v", text, got, err)
			}
		}
	}
	for _, text := range []string{"", "0", "4", "option", "Option1", "option-1"} {
		var got permission.Option
		want := fmt.Sprintf("option %q is unknown: use option1, option2 or option3", text)
		if err := got.UnmarshalText([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("UnmarshalText(%q) = %v", text, err)
		}
	}
}
