package route

import (
	"fmt"
	"testing"
)

// A list of many equal matches ties once with each other route.
func TestEqualMatchesTieOnce(t *testing.T) {
	t.Parallel()
	var routes []Route
	for _, name := range []string{"a", "b", "c"} {
		var r Route
		r.Head.APIVersion, r.Head.Kind = "policy.linkerd.io/v1beta3", "HTTPRoute"
		r.Head.Metadata.Name = name
		r.Rules = []Rule{{Matches: make([]Match, 3000)}}
		routes = append(routes, r)
	}
	got := map[string]int{}
	for a, b := range Ties(routes) {
		got[fmt.Sprint(b.Route.Head.Metadata.Name, a.Route.Head.Metadata.Name)]++
	}
	if len(got) != 3 || got["ab"] != 1 || got["ac"] != 1 || got["bc"] != 1 {
		t.Errorf("ties: %v", got)
	}
}
