package xds

import (
	"testing"

	networkrbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/rbac/v3"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"github.com/meshproof/meshproof/internal/programtest"
	"github.com/meshproof/meshproof/policy"
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

var (
	allow, deny, is, hasPrefix, enforce = programtest.Allow, programtest.Deny, programtest.Is, programtest.HasPrefix, programtest.Enforce
	twoPolicies, severalGates           = programtest.TwoPolicies, programtest.SeveralGates
	byDefault                           = programtest.Default
)

// withStatPrefix gives a network filter what the listener gives it.
func withStatPrefix(m proto.Message) proto.Message {
	if filter, ok := m.(*networkrbacv3.RBAC); ok {
		filter = proto.CloneOf(filter)
		filter.StatPrefix = "stat"
		return filter
	}
	return m
}
