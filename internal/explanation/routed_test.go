package explanation_test

import (
	"strings"
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/explanation"
	"github.com/meshproof/meshproof/internal/golden"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/terminal"
	"github.com/meshproof/meshproof/policy"
)

// explainRouted explains a request from a workload of a folder.
func explainRouted(t *testing.T, path, from, to string, q cases.Request) (*explanation.RoutedRequest, error) {
	t.Helper()
	files, err := lab.Open(lab.Choice{}, path)
	if err != nil {
		t.Fatal(err)
	}
	files.TakeRouting()
	caller, err := explanation.ParseCaller([]string{from})
	if err != nil {
		t.Fatal(err)
	}
	return explanation.ExplainRouted(files, lab.Surroundings{Inbound: policy.Inbound{Workload: policy.Workload{Name: "web"}}}, caller, to, q)
}

// TestRouted follows requests of a consumer through the route of a producer, the timeout of the
// consumer and the permission of the mesh operator.
func TestRouted(t *testing.T) {
	t.Parallel()
	const example = "../../examples/routes"
	for name, tt := range map[string]struct {
		path, to string
		request  cases.Request
	}{
		"slow":    {example, "MeshService/backend:80", cases.Request{Method: "GET", Path: "/slow-endpoint/x"}},
		"version": {example, "kri_msvc_default__backend-ns_backend_http", cases.Request{Method: "POST", Path: "/slow-endpoint", Headers: []policy.Header{{Name: "x-version", Value: "2"}}}},
		"admin":   {example, "MeshService/backend:http", cases.Request{Method: "GET", Path: "/slow-endpoint/admin"}},
		"other":   {example, "MeshService/backend-ns/backend:80", cases.Request{Method: "GET", Path: "/slow-endpoints"}},
		"tcp":     {"testdata/routed", "MeshService/store:5432", cases.Request{Method: "GET", Path: "/"}},
		"gone":    {"testdata/routed", "MeshService/front:80", cases.Request{Method: "GET", Path: "/gone"}},
		"bound":   {"testdata/bound", "MeshService/backend:80", cases.Request{Method: "GET", Path: "/"}},
		"header":  {"testdata/bound", "MeshService/backend:80", cases.Request{Method: "GET", Path: "/", Headers: []policy.Header{{Name: "X-Envoy-Upstream-Stream-Duration-Ms", Value: "5"}}}},
		"unknown": {"testdata/bound", "MeshService/backend:80", cases.Request{Method: "GET", Path: "/", Headers: []policy.Header{{Name: "x-envoy-upstream-stream-duration-ms", Value: "5,5"}, {Name: "x-envoy-upstream-stream-duration-ms", Value: "-5"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := explainRouted(t, tt.path, "web", tt.to, tt.request)
			if err != nil {
				t.Fatal(err)
			}
			var text strings.Builder
			p.WriteText(&text, false)
			golden.Compare(t, "routed-"+name+".txt", strings.ReplaceAll(text.String(), "../../", ""))
			if name == "slow" {
				text.Reset()
				if err := terminal.WriteJSON(&text, p); err != nil {
					t.Fatal(err)
				}
				golden.Compare(t, "routed-"+name+".json", strings.ReplaceAll(text.String(), "../../", ""))
			}
			if p.Warns() != (tt.path != example) {
				t.Errorf("it warns: %t", p.Warns())
			}
		})
	}
}

// A request that names no outbound, or no workload, is no explanation of anything.
func TestRoutedRefusals(t *testing.T) {
	t.Parallel()
	const example = "../../examples/routes"
	for _, tt := range []struct{ path, from, to, want string }{
		{example, "nobody", "MeshService/backend:80", `--from: "nobody" is no workload that sends requests: use one of web, backend-1, backend-v2-1`},
		{example, "web", "MeshService/backnd:80", `--to: web: there is no outbound "MeshService/backnd:80": use one of MeshService/backend-ns/backend-v2:http, MeshService/backend-ns/backend:http`},
		{example, "web", "backend-1/main", ""},
		{"testdata/alone", "web", "", "--to: testdata/alone has routes, timeouts and services alone: name a port of a service, such as MeshService/backend:80"},
		{"../../examples/policies", "spiffe://trust-domain.mesh/ns/a/sa/b", "MeshService/backend:80", ""},
	} {
		p, err := explainRouted(t, tt.path, tt.from, tt.to, cases.Request{Method: "GET", Path: "/"})
		if p != nil || (err == nil) != (tt.want == "") || err != nil && err.Error() != tt.want {
			t.Errorf("%+v: %v, %v", tt, p, err)
		}
	}
}

// A case is explained as a folder is. Where several cases have the sidecar and the outbound, the error
// lists them.
func TestRoutedOfCases(t *testing.T) {
	t.Parallel()
	const file = "../../cases/kuma/route-authorization.yaml"
	p, err := explainRouted(t, file, "stranger", "MeshService/backend:80", cases.Request{Method: "GET", Path: "/slow-endpoint"})
	if err != nil {
		t.Fatal(err)
	}
	if decided := p.Backends[0].Inbounds[0].Decision; p.Identity != "spiffe://trust-domain.mesh/ns/other-ns/sa/stranger" || decided != "deny by default" {
		t.Errorf("%s: %s", p.Identity, decided)
	}
	if _, err := explainRouted(t, file, "web", "MeshService/backend:80", cases.Request{Method: "GET", Path: "/"}); err == nil || !strings.Contains(err.Error(), "2 cases have a sidecar of web with the outbound MeshService/backend:80: choose one of them by --case") {
		t.Error(err)
	}
	if _, err := explainRouted(t, file, "nobody", "MeshService/backend:80", cases.Request{Method: "GET", Path: "/"}); err == nil || !strings.Contains(err.Error(), `"nobody" is no workload that sends requests`) {
		t.Error(err)
	}
}

// Two inbounds of one name, in two namespaces, are told apart.
func TestRoutedToTwins(t *testing.T) {
	t.Parallel()
	p, err := explainRouted(t, "testdata/twins", "web", "MeshMultiZoneService/all:80", cases.Request{Method: "GET", Path: "/"})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, in := range p.Backends[0].Inbounds {
		got[in.Inbound] = in.Decision
	}
	if len(got) != 2 || got["a/api-0/main"] != "allow by kri_mtp_default__a_of-a_" || got["b/api-0/main"] != "deny by default" {
		t.Errorf("%v", got)
	}
}
