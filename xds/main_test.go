package xds

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	networkrbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/rbac/v3"
	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("rerun with -update if this is meant (-golden +got):\n%s", diff)
	}
}

// toYAML decodes what it encoded: protojson varies its white space on purpose.
func toYAML(t *testing.T, m proto.Message) string {
	t.Helper()
	raw, err := protojson.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return jsonToYAML(t, raw)
}

func jsonToYAML(t *testing.T, raw []byte) string {
	t.Helper()
	var value any
	// JSON is YAML, and this decoder keeps integers what they are.
	if err := yaml.Unmarshal(raw, &value); err != nil {
		t.Fatal(err)
	}
	out, err := yaml.MarshalWithOptions(value, yaml.IndentSequence(true))
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func mustCompile(t testing.TB, p policy.Program) Filters {
	t.Helper()
	f, err := Compile(p)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func allow(origin string, when policy.Condition) policy.Rule {
	return policy.Rule{Verdict: policy.Verdict{Effect: policy.Allow, Origin: origin}, When: when}
}

func deny(origin string, when policy.Condition) policy.Rule {
	return policy.Rule{Verdict: policy.Verdict{Origin: origin}, When: when}
}

func is(identity string) policy.Condition { return attribute.Identity.Exact(identity) }

func under(prefix string) policy.Condition {
	return attribute.Identity.Prefix(prefix)
}

var byDefault = policy.Verdict{Origin: "default"}

func enforce(layer policy.Layer, rules ...policy.Rule) policy.Program {
	return policy.Program{Gates: []policy.Gate{{Layer: layer, Rules: rules, Default: byDefault}}}
}

// withStatPrefix gives a network filter what the listener gives it.
func withStatPrefix(m proto.Message) proto.Message {
	if filter, ok := m.(*networkrbacv3.RBAC); ok {
		filter = proto.CloneOf(filter)
		filter.StatPrefix = "stat"
		return filter
	}
	return m
}
