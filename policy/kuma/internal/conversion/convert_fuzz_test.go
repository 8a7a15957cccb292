package conversion_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/policy/kuma/internal/conversion"
	"github.com/meshproof/meshproof/policy/kuma/internal/fixture"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/manifest"
)

// FuzzConvert feeds any text as policies: whatever is accepted is either refused
// by the conversion or comes out as policies of the same names, targets and form,
// and a second conversion changes nothing.
func FuzzConvert(f *testing.F) {
	for _, text := range []string{
		"", fixture.Policies(2), fixture.WithShadow,
		"{type: MeshTrafficPermission, name: p, labels: {\"a b: c\": \"- d\", e: \"\"}, mesh: , spec: {rules: [{default: {action: Deny}}]}}",
		"{type: MeshTrafficPermission, name: \"42\", labels: {}, spec: {targetRef: {kind: Dataplane, labels: {\"x\": \"null\"}}, rules: []}}",
		"{apiVersion: kuma.io/v1alpha1, kind: MeshTrafficPermission, metadata: {name: a, annotations: {note: \"x\\ny # z\"}}, spec: {default: {deny: [{method: \"!#$%&'*+-.^_`|~\"}]}}}",
		"{type: MeshTrafficPermission, name: p, spec: {from: []}}",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		docs, err := manifest.Parse("f.yaml", text)
		if err != nil {
			return
		}
		ps, err := permission.ParseAll(docs)
		if err != nil {
			return
		}
		for _, to := range fixture.EveryOption {
			converted, err := conversion.Convert(ps, to)
			if err != nil {
				continue
			}
			again := fixture.Convert(t, ps, to)
			if diff := cmp.Diff(names(ps), names(again)); diff != "" {
				t.Errorf("%s: (-before +after):\n%s\n%s", to, diff, converted.YAML)
			}
			second, err := conversion.Convert(again, to)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(converted.YAML), string(second.YAML)); diff != "" {
				t.Errorf("%s changes with a second conversion:\n%s", to, diff)
			}
		}
	})
}

func names(ps []permission.Policy) (out []string) {
	for _, p := range ps {
		out = append(out, p.String())
	}
	return out
}
