package mistake_test

import (
	"testing"
	"time"

	"github.com/meshproof/meshproof/internal/mistake"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

func limitOf(ms int) routing.Limit {
	return routing.Limit{Time: time.Duration(ms) * time.Millisecond, Origin: "p"}
}

var sidecar = routing.Proxy{
	Outbounds: []routing.Outbound{{Name: "o", Headers: limitOf(300), Routes: []routing.Route{
		{Name: "a", When: policy.And{attribute.Path.Segments("/a"), attribute.Method.Exact("GET")}, Request: limitOf(100), Backends: []routing.Backend{{Cluster: "x", Weight: 1}, {Cluster: "y"}}},
		{Name: "b", When: attribute.Path.Exact("/a/b"), Request: limitOf(200), Backends: []routing.Backend{{Cluster: "y", Weight: 1}}},
		{Name: "o", Request: limitOf(200), Backends: []routing.Backend{{Cluster: "x", Weight: 1}}},
	}}, {Name: "t", Protocol: policy.TCP, Routes: []routing.Route{{Name: "t", Idle: limitOf(400), Backends: []routing.Backend{{Cluster: "z", Weight: 1}}}}}},
	Clusters: []routing.Cluster{{Name: "x", Limits: routing.Limits{routing.Connection: limitOf(50), routing.MaxStream: limitOf(500)}}, {Name: "y"}, {Name: "z", Protocol: policy.TCP, Limits: routing.Limits{routing.Connection: limitOf(50), routing.Idle: limitOf(400)}}},
}

// Each kind of mistake in a sidecar is made, and each that a request shows is shown.
func TestOfSidecar(t *testing.T) {
	t.Parallel()
	made, shown := map[mistake.Kind]int{}, map[mistake.Kind]int{}
	for _, m := range mistake.OfSidecar(sidecar) {
		made[m.Kind]++
		if _, ok := m.Shown(sidecar); ok {
			shown[m.Kind]++
		}
	}
	for kind, want := range map[mistake.Kind][2]int{
		mistake.RouteLost: {2, 2}, mistake.RoutesExchanged: {2, 2}, mistake.RoutesReversed: {1, 1}, mistake.MatchLost: {3, 3},
		mistake.WeightLost: {1, 1}, mistake.BackendMistaken: {2, 2}, mistake.LimitOfService: {1, 1},
		// The limits of the headers, of three routes, of a stream, and the idle time of tcp; with the other unit
		// both times to connect too.
		mistake.LimitLost: {6, 6}, mistake.SecondsForMilliseconds: {8, 8},
		mistake.SegmentsToPrefix: {1, 1}, mistake.ExactToPrefix: {3, 2}, mistake.AndToOr: {1, 1},
	} {
		if got := [2]int{made[kind], shown[kind]}; got != want {
			t.Errorf("%s: %d made, %d shown, want %v", kind, got[0], got[1], want)
		}
	}
	if none := mistake.OfSidecar(routing.Proxy{}); none != nil {
		t.Errorf("%v", none)
	}
	same := mistake.Sidecar{Proxy: sidecar}
	if _, ok := same.Shown(sidecar); ok {
		t.Error("what is no mistake is shown")
	}
}
