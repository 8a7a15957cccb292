package routeclasses_test

import (
	"testing"

	"github.com/meshproof/meshproof/internal/routeclasses"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

func header(name, value string) policy.Condition {
	return policy.Is{Attribute: attribute.Header(name), Match: policy.Match{Value: value}}
}

// outbound has routes that are told by paths, methods, headers and parameters of the query.
var outbound = routing.Outbound{Name: "o", Routes: []routing.Route{
	{Name: "exact", When: policy.And{attribute.Path.Exact("/a"), attribute.Method.Exact("POST")}},
	{Name: "under", When: attribute.Path.Segments("/a")},
	{Name: "hidden", When: attribute.Path.Exact("/a/b")},
	{Name: "header", When: policy.And{header("x", "1"), policy.Not{Condition: policy.Is{Attribute: attribute.Header("y"), Match: policy.Match{Kind: policy.Present}}}}},
	{Name: "query", When: policy.Is{Attribute: attribute.QueryParameter("q"), Match: policy.Match{Value: "1"}}},
	{Name: "regex", When: policy.Is{Attribute: attribute.Path, Match: policy.Match{Kind: policy.Regex, Value: "/[b-d].*"}}},
	{Name: "rest"},
}}

// Each route that takes a request has a class, all requests of a class take one route, and the
// cover is complete.
func TestOf(t *testing.T) {
	t.Parallel()
	cover := routeclasses.Cut(outbound)
	if !cover.Complete() {
		t.Errorf("sampled: %q", cover.Sampled)
	}
	taken := map[string]int{}
	for i, c := range cover.Classes {
		route := outbound.Decide(c.Witness).Route
		taken[route]++
		for _, n := range cover.Neighbours(i) {
			if n.Class < 0 {
				t.Errorf("%s: the neighbour %+v is in no class", c, n.Request)
				continue
			}
			if got, want := outbound.Decide(n.Request).Route, outbound.Decide(cover.Classes[n.Class].Witness).Route; got != want {
				t.Errorf("%+v takes %s, the witness of its class %s", n.Request, got, want)
			}
		}
	}
	for _, r := range outbound.Routes {
		if want := r.Name != "hidden"; (taken[r.Name] > 0) != want {
			t.Errorf("%s takes %d classes", r.Name, taken[r.Name])
		}
	}
}

// Two outbounds are compared: one without the route of the header sends its requests elsewhere.
func TestOfTwo(t *testing.T) {
	t.Parallel()
	other := outbound
	other.Routes = append(append([]routing.Route{}, outbound.Routes[:3]...), outbound.Routes[4:]...)
	found := map[string]bool{}
	for _, c := range routeclasses.Cut(outbound, other).Classes {
		if was, is := outbound.Decide(c.Witness).Route, other.Decide(c.Witness).Route; was != is {
			found[was+" "+is] = true
		}
	}
	for _, want := range []string{"header query", "header regex", "header rest"} {
		if !found[want] {
			t.Errorf("no class goes from %s: %v", want, found)
		}
	}
	if len(found) != 3 {
		t.Errorf("%v", found)
	}
	tcp := routing.Outbound{Protocol: policy.TCP, Routes: []routing.Route{{Name: "all"}}}
	if cover := routeclasses.Cut(tcp); len(cover.Classes) != 1 || !cover.Complete() {
		t.Errorf("%s", cover)
	}
}
