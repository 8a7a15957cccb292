package legacy_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/meshproof/meshproof/internal/golden"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/legacy"
)

func label(i int) legacy.Tag { return legacy.Label(fmt.Sprintf("key-%d", i), "v") }

// examples are the items of the design's two worked examples, after concatenation.
var examples = map[string][]legacy.Item{
	"first": {
		{Action: legacy.Deny},
		{Tags: []legacy.Tag{legacy.Label("kuma.io/zone", "us-east")}, Action: legacy.DenyWithShadowAllow},
		{Tags: []legacy.Tag{legacy.Label("env", "dev")}, Action: legacy.Allow},
		{Tags: []legacy.Tag{legacy.Service("default", "web")}, Action: legacy.AllowWithShadowDeny},
	},
	"second": {
		{Action: legacy.Allow},
		{Tags: []legacy.Tag{legacy.Label("zone", "us-east")}, Action: legacy.Deny},
		{Tags: []legacy.Tag{legacy.Label("env", "dev")}, Action: legacy.Allow},
		{Tags: []legacy.Tag{legacy.Label("env", "prod")}, Action: legacy.Allow},
	},
}

// TestWorkedExamples compares the full view with the lines of the design. The design sorts
// its two lists by hand, and their order means nothing to Envoy, so the test sorts the
// lines. The programs are golden files.
func TestWorkedExamples(t *testing.T) {
	t.Parallel()
	for name, items := range examples {
		golden.Archives(t, name+".txtar", func(t *testing.T, design string) (programs []txtar.File) {
			view, err := legacy.View(items)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, c := range view {
				got = append(got, line(c))
			}
			want := strings.Split(strings.TrimSpace(design), "\n")
			if diff := cmp.Diff(slices.Sorted(slices.Values(want)), slices.Sorted(slices.Values(got))); diff != "" {
				t.Errorf("the design's lines (-want +got):\n%s", diff)
			}
			for _, compiler := range []legacy.Compiler{legacy.Full, legacy.Compact} {
				gate, shadows := legacy.Gates(items, legacy.Options{Compiler: compiler})
				program := policy.Program{Gates: []policy.Gate{gate}, Shadows: shadows}
				programs = append(programs, txtar.File{Name: compiler.String(), Data: []byte(program.String())})
			}
			return programs
		})
	}
}

// line spells a combination as the archives do.
func line(c legacy.Combination) string {
	parts := make([]string, len(c.Tags))
	for i, tag := range c.Tags {
		parts[i] = tag.String()
		if !c.Present[i] {
			parts[i] = "!" + parts[i]
		}
	}
	return strings.Join(parts, " ") + ": " + c.Action.String()
}

func TestViewLeavesOutWhatNoClientHas(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		tags []legacy.Tag
		want int
	}{
		"two keys":                           {[]legacy.Tag{legacy.Label("a", "1"), legacy.Label("b", "1")}, 4},
		"two values of one key":              {[]legacy.Tag{legacy.Label("a", "1"), legacy.Label("a", "2")}, 3},
		"two services":                       {[]legacy.Tag{legacy.Service("m", "a"), legacy.Service("m", "b")}, 3},
		"one service name in two meshes":     {[]legacy.Tag{legacy.Service("m", "a"), legacy.Service("n", "a")}, 3},
		"two meshes":                         {[]legacy.Tag{legacy.Member("m"), legacy.Member("n")}, 3},
		"a service of the mesh":              {[]legacy.Tag{legacy.Service("m", "a"), legacy.Member("m")}, 3},
		"a service of another mesh":          {[]legacy.Tag{legacy.Service("m", "a"), legacy.Member("n")}, 3},
		"a service and a tag that reads so":  {[]legacy.Tag{legacy.Service("m", "a"), legacy.Label("kuma.io/service", "b")}, 4},
		"one tag twice":                      {[]legacy.Tag{legacy.Label("a", "1"), legacy.Label("a", "1")}, 2},
		"no tag at all: one class of client": {nil, 1},
	} {
		view, err := legacy.View([]legacy.Item{{Tags: tt.tags, Action: legacy.Allow}})
		if err != nil || len(view) != tt.want {
			t.Errorf("%s: %d combinations, want %d (%v)", name, len(view), tt.want, err)
		}
	}
}

func TestFullRefusesWhatIsTooLarge(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{
		12: "",
		13: "kuma/legacy: compile the full rule view: 13 tags make 8192 combinations, the limit is 4096: use the compact compiler",
		70: "kuma/legacy: compile the full rule view: 70 tags make 1180591620717411303424 combinations, the limit is 4096: use the compact compiler",
	} {
		var items []legacy.Item
		for i := range n {
			items = append(items, legacy.Item{Tags: []legacy.Tag{label(i)}, Action: legacy.AllowWithShadowDeny})
		}
		err := legacy.Full.Check(items)
		if _, viewed := legacy.View(items); (err == nil) != (viewed == nil) {
			t.Errorf("%d tags: Check says %v, View %v", n, err, viewed)
		}
		if got := fmt.Sprint(err); want != "" && (got != want || !errors.As(err, new(*legacy.SizeError))) || want == "" && err != nil {
			t.Errorf("%d tags: %v, want %q", n, err, want)
		}
		if err := legacy.Compact.Check(items); err != nil {
			t.Errorf("%d tags, compact: %v", n, err)
		}
		if want == "" {
			continue
		}
		gate, shadows := legacy.Gates(items, legacy.Options{Compiler: legacy.Full})
		if len(gate.Rules)+len(shadows[0].Rules) > 0 {
			t.Errorf("%d tags: refused, and yet a client is let in", n)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]legacy.Action{
		"Allow": legacy.Allow, "ALLOW": legacy.Allow, "Deny": legacy.Deny, "DENY": legacy.Deny,
		"AllowWithShadowDeny": legacy.AllowWithShadowDeny, "ALLOW_WITH_SHADOW_DENY": legacy.AllowWithShadowDeny,
		"DenyWithShadowAllow": legacy.DenyWithShadowAllow, "DENY_WITH_SHADOW_ALLOW": legacy.DenyWithShadowAllow,
	} {
		var got legacy.Action
		if err := got.UnmarshalText([]byte(text)); err != nil || got != want {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "allow", "Allow_With_Shadow_Deny", "ALLOWWITHSHADOWDENY", "AllowWithShadow"} {
		if err := new(legacy.Action).UnmarshalText([]byte(text)); err == nil || !strings.Contains(err.Error(), "use one of Deny, Allow, ") {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, want := range []legacy.Compiler{legacy.Compact, legacy.Full} {
		var got legacy.Compiler
		if err := got.UnmarshalText([]byte(want.String())); err != nil || got != want {
			t.Errorf("%s: %s, %v", want, got, err)
		}
	}
	if err := new(legacy.Compiler).UnmarshalText([]byte("fast")); err == nil {
		t.Error("an unknown compiler was accepted")
	}
}
