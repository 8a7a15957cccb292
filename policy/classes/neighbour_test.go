package classes_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/classes"
)

func TestNeighbours(t *testing.T) {
	t.Parallel()
	p := policy.Program{Gates: []policy.Gate{{Layer: policy.L7, Rules: []policy.Rule{rule(policy.Allow, "observability", policy.And{
		identity(policy.Prefix, "spiffe://td/ns/observability/"), attribute.Path.Segments("/metrics"), attribute.Method.Exact("GET"),
	})}}}}
	cover := classes.Cut(classes.Surface{Protocol: policy.HTTP2}, p)
	at, ok := cover.Locate(policy.Request{URIs: []string{"spiffe://td/ns/observability/sa/prometheus"}, Method: "GET", Path: "/metrics/x?y"})
	if !ok || cover.Classes[at].String() != "identity spiffe://td/ns/observability/…, path under /metrics, method GET" {
		t.Fatalf("class %d of %v", at, cover.Classes)
	}
	witness := cover.Classes[at].Witness
	got := make(map[string]bool)
	for _, n := range cover.Neighbours(at) {
		r := n.Request
		changed := ""
		if !slices.Equal(r.URIs, witness.URIs) {
			changed += strings.Join(r.URIs, ",")
		}
		if r.Path != witness.Path {
			changed += r.Path
		}
		if r.Method != witness.Method {
			changed += r.Method
		}
		got[changed] = n.Class == at
	}
	want := map[string]bool{
		"/metrics/": true, "/metrics/x": true, "/metrics?x=1": true, "/metrics?\xff": true,
		"/metricsx": false, "/metrics-evil/x": false, "/Metrics": false, "/metric": false, "/": false, "/x?/metrics": false,
		"HEAD": false, "get": false, "GETS": false,
		"spiffe://td/ns/observability/sa/any/x": true, "spiffe://td/ns/observability/sa/anyx": true,
		"spiffe://td/ns/observability-evil/sa/any": false, "spiffe://td/ns/observability2": false, "spiffe://td/ns/observability": false,
		"spiffe://td/ns/Observability/sa/any": false, "spiffe://td/ns/observabilit/sa/any": false, "spiffe://td/ns/observabilit": false,
		"spiffe://td/ns": false, "spiffe://td/ns/sa/any": false,
		"spiffe://td.evil/ns/observability/sa/any": false, "spiffe://other.example/ns/observability/sa/any": false,
		"spiffe://td/ns/observability/sa/any,spiffe://td/ns/any/sa/any": true, "spiffe://td/ns/any/sa/any,spiffe://td/ns/observability/sa/any": false,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("in the class of the witness (-want +got):\n%s", diff)
	}
	rest, _ := cover.Locate(policy.Request{Method: "GET", Path: "/metrics"})
	if ns := cover.Neighbours(rest); !slices.ContainsFunc(ns, func(n classes.Neighbour) bool { return n.Request.URIs == nil && n.Class == rest }) {
		t.Errorf("no caller without a certificate beside %s: %+v", cover.Classes[rest], ns)
	}
}

func TestNeighboursByName(t *testing.T) {
	t.Parallel()
	a, b := attribute.URISAN.Exact("spiffe://td/a"), attribute.URISAN.Exact("spiffe://td/b")
	gate := policy.Gate{Rules: []policy.Rule{rule(policy.Allow, "a", a), rule(policy.Allow, "b", b)}}
	cover := classes.Cut(classes.Surface{Protocol: policy.TCP}, policy.Program{Gates: []policy.Gate{gate}})
	in, _ := cover.Locate(policy.Request{URIs: []string{"spiffe://td/a"}})
	if !slices.ContainsFunc(cover.Neighbours(in), func(n classes.Neighbour) bool { return len(n.Request.DNS) == 1 && n.Class == in }) {
		t.Error("no caller has the name as a DNS SAN")
	}
	if at, ok := cover.Locate(policy.Request{URIs: []string{"spiffe://td/b", "spiffe://td/a"}}); at != in || !ok || len(cover.Classes) != 3 {
		t.Errorf("who has both names is in class %d of %v, but rule a decides", at, cover.Classes)
	}
	// No single name passes both of two gates.
	gates := []policy.Gate{{Rules: []policy.Rule{rule(policy.Allow, "a", a)}}, {Rules: []policy.Rule{rule(policy.Allow, "b", b)}}}
	twice := classes.Cut(classes.Surface{Protocol: policy.TCP}, policy.Program{Gates: gates})
	if at, ok := twice.Locate(policy.Request{URIs: []string{"spiffe://td/b", "spiffe://td/a"}}); !ok || twice.Classes[at].String() != "callers with spiffe://td/a and spiffe://td/b" {
		t.Errorf("who has both names is in class %d of %v", at, twice.Classes)
	}
	mixed := classes.Cut(classes.Surface{Protocol: policy.TCP}, programs(a, identity(policy.Exact, "spiffe://td/b"))...)
	if at, ok := mixed.Locate(policy.Request{URIs: []string{"spiffe://td/a", "spiffe://td/b"}}); ok || at != classes.Unclassed || mixed.Complete() {
		t.Errorf("who has both names is in class %d of %s", at, mixed)
	}
}

func TestHiddenMatcherIsANeighbour(t *testing.T) {
	t.Parallel()
	p := policy.Program{Gates: []policy.Gate{{Rules: []policy.Rule{
		rule(policy.Allow, "all", policy.Always), rule(policy.Deny, "hidden", identity(policy.Exact, "spiffe://td/hidden")),
	}}}}
	cover := classes.Cut(classes.Surface{Protocol: policy.TCP}, p)
	requests := []policy.Request{cover.Classes[0].Witness}
	for _, n := range cover.Neighbours(0) {
		requests = append(requests, n.Request)
	}
	for _, want := range []string{"spiffe://td/hidden", "spiffe://td/ns/any/sa/any"} {
		if !slices.ContainsFunc(requests, func(r policy.Request) bool { return slices.Equal(r.URIs, []string{want}) }) {
			t.Errorf("%s is not asked: %+v", want, requests)
		}
	}
}

// TestNeighbourQueryOfBytes has a byte that is no UTF-8 in the query, where HTTP/2 sends it: a deny by
// an expression may not match it. HTTP/1.1 refuses such a request.
func TestNeighbourQueryOfBytes(t *testing.T) {
	t.Parallel()
	gate := policy.Gate{Layer: policy.L7, Form: policy.Named, Default: policy.Verdict{Effect: policy.Allow}}
	gate.Rules = []policy.Rule{rule(policy.Deny, "p", is(attribute.Header(":path"), policy.Regex, "/admin.*"))}
	for protocol, want := range map[policy.Protocol]bool{policy.HTTP: false, policy.HTTP2: true, policy.GRPC: true} {
		cover := classes.Cut(classes.Surface{Protocol: protocol}, policy.Program{Gates: []policy.Gate{gate}})
		found := false
		for i := range cover.Classes {
			for _, n := range cover.Neighbours(i) {
				found = found || strings.HasPrefix(n.Request.Path, "/admin") && strings.HasSuffix(n.Request.Path, "?\xff")
			}
		}
		if found != want {
			t.Errorf("%s: a query with a byte: %t, want %t", protocol, found, want)
		}
	}
}
