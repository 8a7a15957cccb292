package xds

import (
	"testing"

	networkrbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/rbac/v3"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

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
