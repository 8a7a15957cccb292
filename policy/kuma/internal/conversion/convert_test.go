package conversion_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/internal/golden"
	"github.com/meshproof/meshproof/internal/property"
	"github.com/meshproof/meshproof/policy/kuma/internal/conversion"
	"github.com/meshproof/meshproof/policy/kuma/internal/fixture"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/manifest"
)

// TestConvert rewrites the first file of each archive for each option and
// compares policies, notes and errors with the other files.
func TestConvert(t *testing.T) {
	t.Parallel()
	golden.Archives(t, "convert/*.txtar", func(t *testing.T, input string) (got []txtar.File) {
		ps := fixture.Parse(t, input)
		for _, to := range fixture.EveryOption {
			text := ""
			converted, err := conversion.Convert(ps, to)
			if err != nil {
				text = "error: " + err.Error() + "\n"
			}
			for _, note := range converted.Notes {
				text += "# " + note + "\n"
			}
			got = append(got, txtar.File{Name: to.String(), Data: append([]byte(text), converted.YAML...)})
		}
		return got
	})
}

// TestConvertIsStable holds that a second conversion changes nothing, and that policies come
// back the same from every other option.
func TestConvertIsStable(t *testing.T) {
	t.Parallel()
	property.Check(t, func(r *rapid.T) {
		ps := fixture.Parse(t, fixture.DrawPolicies(r))
		for _, to := range fixture.EveryOption {
			first, err := conversion.Convert(ps, to)
			if err != nil {
				r.Fatal(err)
			}
			for _, via := range fixture.EveryOption {
				again, err := conversion.Convert(fixture.Convert(t, fixture.Convert(t, ps, via), to), to)
				if err != nil {
					r.Fatal(err)
				}
				if diff := cmp.Diff(string(first.YAML), string(again.YAML)); diff != "" {
					r.Fatalf("%s by way of %s (-direct +round):\n%s", to, via, diff)
				}
			}
		}
	})
}

// FuzzConvert feeds any text as policies: an accepted text is either refused
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
