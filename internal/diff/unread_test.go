package diff

import (
	"encoding/json"
	"strings"
	"testing"
)

// Each form of the output names each change beside the policies, with its place. The verdict names the first
// ones.
func TestOutputNamesChangesBesidePolicies(t *testing.T) {
	t.Parallel()
	const policy = "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p, namespace: x}, spec: {rules: [{}]}}\n"
	var filters strings.Builder
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		filters.WriteString("---\n{apiVersion: networking.istio.io/v1alpha3, kind: EnvoyFilter, metadata: {name: " + name + ", namespace: x}, spec: {}}\n")
	}
	d := differenceOf(t, policy, policy+filters.String())
	d.DenyWidening = true
	var text strings.Builder
	d.WriteText(&text, false)
	raw, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	for form, printed := range map[string]string{"text": text.String(), "markdown": d.Markdown(), "json": string(raw)} {
		for _, want := range []string{"p.yaml:3", "EnvoyFilter x/a", "EnvoyFilter x/e"} {
			if !strings.Contains(printed, want) {
				t.Errorf("%s: %q is not in\n%s", form, want, printed)
			}
		}
	}
	var form struct {
		Unread []struct{ Place, Object, Effect string }
		Fails  bool
	}
	if err := json.Unmarshal(raw, &form); err != nil || len(form.Unread) != 5 || form.Unread[0].Object != "EnvoyFilter x/a" || form.Unread[0].Effect != "is new" || !form.Fails {
		t.Errorf("%+v, %v", form, err)
	}
	if verdict := d.Verdict(); !strings.Contains(verdict, "2 more changes beside the policies, see above") || strings.Contains(verdict, "x/e") {
		t.Error(verdict)
	}
	s, err := DiffBeside(sideOf(t, policy), sideOf(t, policy+filters.String()), "")
	if err != nil {
		t.Fatal(err)
	}
	text.Reset()
	Sides{Difference: s}.WriteText(&text, false)
	for form, printed := range map[string]string{"text": text.String(), "markdown": Sides{Difference: s}.Markdown()} {
		if !strings.Contains(printed, "EnvoyFilter x/e) is on one side alone") {
			t.Errorf("compare, %s:\n%s", form, printed)
		}
	}
}
