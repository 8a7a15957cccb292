package harness

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/meshproof/meshproof/internal/exchange"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/internal/routingconfig"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// shop is a sidecar with one outbound, with the routes, and with a cluster for each inbound.
func shop(routes ...routing.Route) routingconfig.Sidecar {
	s := web()
	s.Program.Outbounds = []routing.Outbound{{Name: "shop", Port: 80, Routes: routes}}
	s.Program.Clusters = []routing.Cluster{{Name: "http"}, {Name: "open"}}
	s.Endpoints["http"], s.Endpoints["open"] = []routingconfig.Endpoint{{Inbound: "http"}}, []routingconfig.Endpoint{{Inbound: "open http"}}
	return s
}

func routeTo(name string, when policy.Condition, backends ...string) routing.Route {
	r := routing.Route{Name: name, When: when}
	for _, b := range backends {
		r.Backends = append(r.Backends, routing.Backend{Cluster: b, Weight: 1})
	}
	return r
}

func meshOf(t testing.TB, h *Harness, sidecars ...routingconfig.Sidecar) *Mesh {
	t.Helper()
	spec := inbounds(t, onlyFrontend)
	spec.Sidecars = sidecars
	return h.Mesh(t, spec)
}

// sendOne sends a request, and returns what is found.
func sendOne(t testing.TB, m *Mesh, r exchange.Request) exchange.Finding {
	t.Helper()
	all, err := m.SendRouted(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	f, err := all.Evidence[0].Find()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestSetSidecar changes routes, bounds of a cluster, bounds of a listener, and the outbounds.
// Each change is live when SetSidecar returns.
func TestSetSidecar(t *testing.T) {
	t.Parallel()
	m := meshOf(t, sharedEnvoy.Get(t), shop(routeTo("all", nil, "http")))
	ask := func(to, path string) exchange.Finding {
		t.Helper()
		return sendOne(t, m, exchange.Request{From: "web", To: to, Path: path})
	}
	set := func(s routingconfig.Sidecar) {
		t.Helper()
		if err := m.SetSidecar(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	want := func(f exchange.Finding, route, backend string, status int) {
		t.Helper()
		if f.Route != route || f.Backend != backend || f.Answer.Status != status {
			t.Errorf("route %q, backend %q, %s; want %q, %q, %d", f.Route, f.Backend, f.Answer, route, backend, status)
		}
	}
	want(ask("shop", "/a"), "all", "http", 200)
	set(shop(routeTo("only a", attribute.Path.Exact("/a"), "open"), routeTo("rest", nil, "http")))
	want(ask("shop", "/a"), "only a", "open http", 200)
	want(ask("shop", "/b"), "rest", "http", 200)
	// The cluster alone changes: it has no endpoint any more.
	s := shop(routeTo("only a", attribute.Path.Exact("/a"), "open"), routeTo("rest", nil, "http"))
	s.Endpoints["open"] = nil
	set(s)
	want(ask("shop", "/a"), "only a", "", 503)
	// Another outbound, and a bound of the listener.
	s = shop(routeTo("all", nil, "http"))
	s.Program.Outbounds[0].Headers = limit(time.Second)
	s.Program.Outbounds = append(s.Program.Outbounds, routing.Outbound{Name: "more", Port: 81, Routes: []routing.Route{routeTo("more", nil, "open")}})
	set(s)
	want(ask("shop", "/a"), "all", "http", 200)
	want(ask("more", "/a"), "more", "open http", 200)
	set(shop(routeTo("all", nil, "http")))
	want(ask("shop", "/a"), "all", "http", 200)
	if _, err := m.SendRouted(t.Context(), exchange.Request{From: "web", To: "more"}); err == nil || !strings.Contains(err.Error(), `sidecar web has no outbound "more"`) {
		t.Errorf("an outbound that is gone: %v", err)
	}
}

// TestRefusedSidecars holds the errors of sidecars and of requests that cannot be.
func TestRefusedSidecars(t *testing.T) {
	t.Parallel()
	h := sharedEnvoy.Get(t)
	m := meshOf(t, h, shop(routeTo("all", nil, "http")))
	other := shop(routeTo("all", nil, "http"))
	other.Name = "other"
	moved := shop()
	moved.Address = netip.MustParseAddr("10.0.0.9")
	for want, err := range map[string]error{
		`has no sidecar "other"`:              m.SetSidecar(t.Context(), other),
		"its address and its identity stay":   m.SetSidecar(t.Context(), moved),
		`all weights are 0`:                   m.SetSidecar(t.Context(), shop(routing.Route{Name: "r", Backends: []routing.Backend{{Cluster: "http"}}})),
		`sidecars "web" and "other" share`:    meshError(t, h, shop(), other),
		`two sidecars are named "web"`:        meshError(t, h, shop(), shop()),
		`the mesh has no sidecar "nobody"`:    routedError(t, m, exchange.Request{From: "nobody", To: "shop"}),
		`sidecar web has no outbound "store"`: routedError(t, m, exchange.Request{From: "web", To: "store"}),
		`has no sidecar "positive control"`:   routedError(t, m, exchange.Request{From: controlName + " ", To: "shop"}),
	} {
		if err == nil || !strings.Contains(err.Error(), strings.ReplaceAll(want, `"positive control"`, `"positive control "`)) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	// What was live stays.
	if f := sendOne(t, m, exchange.Request{From: "web", To: "shop"}); f.Route != "all" || f.Cause != routing.Answered {
		t.Errorf("behind refused changes: %+v", f)
	}
}

func meshError(t *testing.T, h *Harness, sidecars ...routingconfig.Sidecar) error {
	spec := inbounds(t, onlyFrontend)
	spec.Sidecars = sidecars
	_, err := h.NewMesh(t.Context(), spec)
	return err
}

func routedError(t *testing.T, m *Mesh, r exchange.Request) error {
	_, err := m.SendRouted(t.Context(), r)
	return err
}

// TestBackendsOfTwoCallers sends requests of two workloads to one destination with two backends.
// Each sidecar has routes of its own, and shows its own identity.
func TestBackendsOfTwoCallers(t *testing.T) {
	t.Parallel()
	one, two := shop(routeTo("both", nil, "http", "open")), shop(routeTo("one", nil, "http"))
	two.Name, two.Identity, two.Address = "job", intruder, netip.MustParseAddr("10.0.0.2")
	m := meshOf(t, sharedEnvoy.Get(t), one, two)
	var requests []exchange.Request
	for i := range 40 {
		requests = append(requests, exchange.Request{From: []string{"web", "job"}[i%2], To: "shop", Path: fmt.Sprint("/", i)})
	}
	all, err := m.SendRouted(t.Context(), requests...)
	if err != nil {
		t.Fatal(err)
	}
	var backends []string
	for i, e := range all.Evidence {
		f, err := e.Find()
		switch {
		case err != nil:
			t.Fatal(err)
		case i%2 == 1 && (f.Route != "one" || f.Cause != routing.Denied || f.Backend != "http" || e.Arrival != nil):
			t.Errorf("request %d of an intruder: %+v", i, f)
		case i%2 == 0 && (f.Route != "both" || f.Cause != routing.Answered || e.Arrival.Path != requests[i].Path):
			t.Errorf("request %d: %+v", i, f)
		}
		if i%2 == 0 && !slices.Contains(backends, f.Backend) {
			backends = append(backends, f.Backend)
		}
	}
	if len(backends) != 2 {
		t.Errorf("20 requests reached %q", backends)
	}
}

// BenchmarkRouteChange changes one route of 500 outbounds, until it is live.
func BenchmarkRouteChange(b *testing.B) {
	programs := []routingconfig.Sidecar{ofOutbounds(500, "http"), ofOutbounds(500, "open")}
	m := meshOf(b, New(b, WithRuntime(Process), WithMeshes(1)), programs[0])
	n := 0
	for b.Loop() {
		n++
		if err := m.SetSidecar(b.Context(), programs[n%2]); err != nil {
			b.Fatal(err)
		}
	}
	want := []string{"http", "open http"}[n%2]
	if f := sendOne(b, m, exchange.Request{From: "web", To: "shop-250", Path: "/0"}); f.Backend != want {
		b.Errorf("behind the changes: %+v, want %s", f, want)
	}
}

// BenchmarkSidecar500 makes a mesh with a sidecar of 500 outbounds, each with six routes and a cluster of
// its own, until it is live. It reports by how much the memory of Envoy grows for it.
func BenchmarkSidecar500(b *testing.B) {
	s := ofOutbounds(500, "http")
	for i := range s.Program.Outbounds {
		o := &s.Program.Outbounds[i]
		s.Program.Clusters = append(s.Program.Clusters, routing.Cluster{Name: o.Name})
		s.Endpoints[o.Name] = s.Endpoints["http"]
		for k := range o.Routes {
			o.Routes[k].Backends[0].Cluster = o.Name
		}
	}
	spec := inbounds(b, onlyFrontend)
	spec.Sidecars = []routingconfig.Sidecar{s}
	h := New(b, WithRuntime(Process), WithMeshes(1))
	allocated := func() float64 {
		page, err := h.envoy.AdminGet(b.Context(), "/memory")
		if err != nil {
			b.Fatal(err)
		}
		var memory struct {
			Allocated float64 `json:",string"`
		}
		if err := json.Unmarshal(page, &memory); err != nil {
			b.Fatal(err)
		}
		return memory.Allocated
	}
	grown, meshes := 0.0, 0.0
	for b.Loop() {
		b.StopTimer()
		before := allocated()
		b.StartTimer()
		m, err := h.NewMesh(b.Context(), spec)
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		grown, meshes = grown+allocated()-before, meshes+1
		if f := sendOne(b, m, exchange.Request{From: "web", To: "shop-250", Path: "/0"}); f.Backend != "http" {
			b.Errorf("a request: %+v", f)
		}
		if err := m.Close(b.Context()); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
	b.ReportMetric(grown/meshes/1e6, "MB-of-Envoy/op")
}

// ofOutbounds has outbounds with six routes each. One route in the middle leads to the backend.
func ofOutbounds(n int, backend string) routingconfig.Sidecar {
	s := shop()
	s.Program.Outbounds = nil
	for i := range n {
		o := routing.Outbound{Name: fmt.Sprintf("shop-%d", i), Port: 80}
		for k := range 5 {
			o.Routes = append(o.Routes, routeTo(fmt.Sprintf("route-%d-%d", i, k), attribute.Path.Exact(fmt.Sprint("/", k)), "http"))
		}
		o.Routes = append(o.Routes, routeTo(fmt.Sprintf("route-%d", i), nil, "http"))
		s.Program.Outbounds = append(s.Program.Outbounds, o)
	}
	s.Program.Outbounds[n/2].Routes[0].Backends[0].Cluster = backend
	return s
}
