package inspect

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Each refusal names file, line and field.
func TestParseRefuses(t *testing.T) {
	t.Parallel()
	in := func(inbounds string) string {
		return "type: Dataplane\nname: backend\nnetworking:\n  inbound:\n" + inbounds
	}
	for name, tt := range map[string]struct{ yaml, want string }{
		"nothing":              {"", "there is nothing to inspect: name a folder with Dataplanes and MeshTrafficPermissions"},
		"another kind":         {"type: Mesh\nname: default\n", `a.yaml:1: type: kind "Mesh" is unknown: serve reads the MeshTrafficPermissions and Dataplanes of Kuma: ask meshproof inspect inbound about policies of other meshes`},
		"another object":       {"apiVersion: v1\nkind: Pod\n", `a.yaml:2: kind: kind "Pod" of apiVersion "v1" is unknown: serve reads the MeshTrafficPermissions and Dataplanes of Kuma: ask meshproof inspect inbound about policies of other meshes`},
		"no kind":              {"name: a\n", "a.yaml:1: there is neither type nor apiVersion and kind: serve reads the MeshTrafficPermissions and Dataplanes of Kuma: ask meshproof inspect inbound about policies of other meshes"},
		"unknown field":        {"type: Dataplane\nname: backend\nnetworking:\n  inbounds: []\n", "a.yaml:4: networking.inbounds: unknown field: "},
		"unknown field deeper": {in("    - {port: 80, tag: {}}\n"), "a.yaml:5: networking.inbound[0].tag: unknown field: "},
		"other version":        {"apiVersion: kuma.io/v1\nkind: Dataplane\n", `a.yaml:1: apiVersion: version "kuma.io/v1" is not supported: use kuma.io/v1alpha1`},
		"no name":              {"type: Dataplane\nmesh: default\n", "a.yaml:1: name: a name is required"},
		"no name of object":    {"apiVersion: kuma.io/v1alpha1\nkind: Dataplane\nmetadata: {}\n", "a.yaml:3: metadata.name: a name is required"},
		"bad name":             {"type: Dataplane\nname: back_end\n", `a.yaml:2: name: no resource identifier can be made: name "back_end": `},
		"two meshes":           {"type: Dataplane\nmesh: a\nname: b\nlabels: {kuma.io/mesh: c}\n", `a.yaml:4: labels["kuma.io/mesh"]: "c" contradicts mesh "a"`},
		"unknown origin":       {"apiVersion: kuma.io/v1alpha1\nkind: Dataplane\nmetadata:\n  name: a\n  labels: {kuma.io/origin: here}\n", `a.yaml:5: metadata.labels["kuma.io/origin"]: "here" is unknown: use global, zone`},
		"no port":              {in("    - {name: http}\n"), "a.yaml:5: networking.inbound[0].port: the inbound has no port"},
		"port out of range":    {in("    - {port: 65536}\n"), "a.yaml:5: networking.inbound[0].port: expected a whole number from 0 to 65535"},
		"bad section":          {in("    - {port: 80, name: a/b}\n"), `a.yaml:5: networking.inbound[0].name: no resource identifier can be made: section "a/b": `},
		"unknown tag":          {in("    - {port: 80, tags: {kuma.io/protocol: https}}\n"), `a.yaml:5: networking.inbound[0].tags["kuma.io/protocol"]: protocol "https" is unknown: use http, http2, grpc, tcp or kafka`},
		"unknown protocol":     {in("    - {port: 80, protocol: https}\n"), `a.yaml:5: networking.inbound[0].protocol: protocol "https" is unknown: use `},
		"a section twice":      {in("    - {port: 80}\n    - {port: 81, name: '80'}\n"), "a.yaml:6: networking.inbound[1]: inbound backend/80 appears twice: give each a name of its own"},
		"a dataplane twice":    {"{type: Dataplane, name: a}\n---\n{type: Dataplane, name: a}\n", "a.yaml:3: kri_dp_default___a_ is defined twice, first at a.yaml:1"},
		"a name twice": {"{type: Dataplane, name: a.b}\n---\n{apiVersion: kuma.io/v1alpha1, kind: Dataplane, metadata: {name: a, namespace: b}}\n",
			`a.yaml:3: dataplane "a.b" is defined twice, first at a.yaml:1`},
		"a policy twice": {"{type: MeshTrafficPermission, name: p}\n---\n{type: MeshTrafficPermission, name: p}\n", "a.yaml:3: name: kri_mtp_default___p_ is defined twice, first at a.yaml:1: delete one of the two, or write out what is applied, such as by kustomize build"},
		"bad policy":     {"type: MeshTrafficPermission\nname: p\nspec: {default: {allow: [{}]}}\n", "a.yaml:3: spec.default.allow[0]: an empty matcher is not allowed: "},
		"another option": {"type: MeshTrafficPermission\nname: p\nspec: {rules: [{conditions: [], default: {action: Allow}}]}\n", "a.yaml:3: spec.rules[0].conditions: option1 has lists instead of conditions: "},
		"two mistakes":   {"{type: Dataplane}\n---\n{type: Mesh}\n", "a.yaml:1: name: a name is required\na.yaml:3: type: kind "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			docs, err := manifest.Parse("a.yaml", []byte(tt.yaml))
			if err != nil {
				t.Fatal(err)
			}
			if _, err = Parse(docs, permission.Options{}); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("it says\n%v\nwant\n%s", err, tt.want)
			}
		})
	}
}

// A Dataplane as users write it, with fields that do not concern its callers.
func TestDataplane(t *testing.T) {
	t.Parallel()
	r := parse(t, `
type: Dataplane
mesh: prod
name: backend-7c5f
labels:
  app: backend
  kuma.io/display-name: backend
  kuma.io/zone: zone-1
  kuma.io/origin: zone
  k8s.kuma.io/namespace: shop
networking:
  address: 10.0.0.1
  advertisedAddress: 192.0.2.1
  admin: {port: 9901}
  transparentProxying: {redirectPortInbound: 15006}
  outbound: [{port: 10001, tags: {kuma.io/service: db}}]
  inbound:
    - {port: 1, tags: {kuma.io/service: backend, kuma.io/protocol: http}}
    - {port: 2, tags: {kuma.io/protocol: http2}, protocol: grpc, state: Ignored, health: {ready: false}}
    - {port: 3, name: queue, servicePort: 4, serviceAddress: 127.0.0.1, address: 10.0.0.2, tags: {kuma.io/protocol: kafka}, serviceProbe: {tcp: {}}}
    - {port: 5}
probes: {port: 9000}
metrics: {type: prometheus}
`, permission.Options{})
	_, d, refusal := r.find("prod", "backend-7c5f")
	if refusal != nil {
		t.Fatal(refusal.Detail)
	}
	w := policy.Workload{
		Name: "backend", Namespace: "shop", Mesh: "prod", Zone: "zone-1", Origin: "zone",
		Labels: map[string]string{"app": "backend", "kuma.io/display-name": "backend", "kuma.io/zone": "zone-1", "kuma.io/origin": "zone", "k8s.kuma.io/namespace": "shop"},
	}
	want := []policy.Inbound{
		{Workload: w, Port: 1, Protocol: policy.HTTP, Tags: map[string]string{"kuma.io/service": "backend", "kuma.io/protocol": "http", "app": ""}},
		{Workload: w, Port: 2, Protocol: policy.GRPC, Tags: map[string]string{"kuma.io/protocol": "http2", "app": "", "kuma.io/service": ""}},
		{Workload: w, Name: "queue", Port: 3, Protocol: policy.TCP, Tags: map[string]string{"kuma.io/protocol": "kafka", "app": "", "kuma.io/service": ""}},
		{Workload: w, Port: 5, Protocol: policy.TCP, Tags: map[string]string{"app": "", "kuma.io/service": ""}},
	}
	if diff := cmp.Diff(want, d.Inbounds, cmpopts.EquateComparable(netip.Addr{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got, want := d.ID().String(), "kri_dp_prod_zone-1_shop_backend_"; got != want {
		t.Errorf("it is %s, want %s", got, want)
	}
}

func inboundPath(name, id string) string {
	return "/meshes/default/dataplanes/" + name + "/_inbounds/" + id + "/_policies"
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	r := load(t, "mesh")
	twins := parse(t, `
{apiVersion: kuma.io/v1alpha1, kind: Dataplane, metadata: {name: web, namespace: a}}
---
{apiVersion: kuma.io/v1alpha1, kind: Dataplane, metadata: {name: web, namespace: b}}
`, permission.Options{})
	const own = "kri_dp_default_zone-1_shop_web_main"
	for name, tt := range map[string]struct {
		resources *Resources
		target    string
		status    int
		detail    string
	}{
		"no identifier":     {r, inboundPath("web", "self_inbound_dp_main"), 400, `kri: parse "self_inbound_dp_main": want kri_<type>_`},
		"section alone":     {r, inboundPath("web", "main"), 400, `kri: parse "main": want kri_`},
		"too few parts":     {r, inboundPath("web", "kri_dp_default_zone-1_shop_web"), 400, "want kri_<type>_"},
		"unknown type":      {r, inboundPath("web", "kri_xyz_default_zone-1_shop_web_main"), 400, `type "xyz" is unknown`},
		"no name":           {r, inboundPath("web", "kri_dp_default_zone-1_shop__main"), 400, "name is empty"},
		"bad character":     {r, inboundPath("web", "kri_dp_default_zone-1_Shop_web_main"), 400, `namespace "Shop"`},
		"escaped slash":     {r, inboundPath("web", "kri_dp_default_zone-1_shop_web_a%2Fb"), 400, `section "a/b"`},
		"other type":        {r, inboundPath("web", "kri_mtp_default_zone-1_shop_web_main"), 404, `its type is "mtp", the dataplane's is "dp"`},
		"other mesh":        {r, inboundPath("web", "kri_dp_other_zone-1_shop_web_main"), 404, `its mesh is "other", the dataplane's is "default"`},
		"no mesh":           {r, inboundPath("web", "kri_dp__zone-1_shop_web_main"), 404, `its mesh is ""`},
		"other zone":        {r, inboundPath("web", "kri_dp_default_zone-2_shop_web_main"), 404, `its zone is "zone-2", the dataplane's is "zone-1"`},
		"no zone":           {r, inboundPath("web", "kri_dp_default__shop_web_main"), 404, `its zone is ""`},
		"other namespace":   {r, inboundPath("web", "kri_dp_default_zone-1_other_web_main"), 404, `its namespace is "other", the dataplane's is "shop"`},
		"other name":        {r, inboundPath("web", "kri_dp_default_zone-1_shop_backend_main"), 404, `its name is "backend", the dataplane's is "web"`},
		"name in the URL":   {r, inboundPath("backend", own), 404, `its zone is "zone-1", the dataplane's is ""`},
		"no section":        {r, inboundPath("web", "kri_dp_default_zone-1_shop_web_"), 404, `no inbound with section "": it has main`},
		"port of a named":   {r, inboundPath("web", "kri_dp_default_zone-1_shop_web_80"), 404, `no inbound with section "80": it has main`},
		"part of a section": {r, inboundPath("web", own+"_0"), 404, `no inbound with section "main_0"`},
		"unknown dataplane": {r, inboundPath("nobody", own), 404, `mesh "default" has no dataplane "nobody"`},
		"unknown mesh":      {r, "/meshes/other/dataplanes", 404, `there is no mesh "other"`},
		"one of two names":  {twins, "/meshes/default/dataplanes/web/_inbounds", 404, `mesh "default" has 2 dataplanes "web": use one of web.a, web.b`},
		"no inbound":        {twins, inboundPath("web.a", "kri_dp_default__a_web_80"), 404, `no inbound with section "80": it has none`},
		"unknown path":      {r, "/meshes", 404, "there is nothing at /meshes: see /openapi.yaml"},
		"slash at the end":  {r, "/meshes/default/dataplanes/", 404, "there is nothing at /meshes/default/dataplanes/"},
		"dot segments":      {r, "/meshes/../openapi.yaml", 404, "there is nothing at /meshes/../openapi.yaml"},
		"empty segment":     {r, "/meshes//dataplanes", 404, "there is nothing at /meshes//dataplanes"},
		"another host":      {r, "//other.example/", 404, "there is nothing at"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := get(t, tt.resources, tt.target)
			got := readProblem(t, w)
			want := problem{Type: "/std-errors", Status: tt.status, Title: http.StatusText(tt.status), Detail: got.Detail}
			if diff := cmp.Diff(want, got); diff != "" || w.Code != tt.status {
				t.Errorf("status %d, want %d (-want +got):\n%s", w.Code, tt.status, diff)
			}
			if !strings.Contains(got.Detail, tt.detail) {
				t.Errorf("detail %q, want %q in it", got.Detail, tt.detail)
			}
		})
	}
	if w := get(t, r, inboundPath("web", own)); w.Code != http.StatusOK {
		t.Errorf("the sound identifier gets %d: %s", w.Code, w.Body)
	}
}

func readProblem(t testing.TB, w *httptest.ResponseRecorder) problem {
	t.Helper()
	if got := w.Header().Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("the refusal %d is %q", w.Code, got)
	}
	var p problem
	unmarshal(t, w.Body.Bytes(), &p)
	return p
}

func TestMethods(t *testing.T) {
	t.Parallel()
	handler := load(t, "mesh").Handler()
	for _, path := range []string{"/", "/openapi.yaml", httpPort, "/nowhere"} {
		for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "get"} {
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, httptest.NewRequest(method, path, nil))
			if p := readProblem(t, w); p.Status != 405 || w.Code != 405 || w.Header().Get("Allow") != "GET, HEAD" {
				t.Errorf("%s %s: status %d, allow %q, problem %+v", method, path, w.Code, w.Header().Get("Allow"), p)
			}
		}
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	head, err := server.Client().Head(server.URL + httpPort)
	if err != nil {
		t.Fatal(err)
	}
	head.Body.Close()
	if head.StatusCode != 200 || head.ContentLength <= 0 {
		t.Errorf("HEAD: status %d, length %d", head.StatusCode, head.ContentLength)
	}
}

// For any path the answer is the one of the inbound, or a 400 or 404 with a problem object.
func FuzzInboundPath(f *testing.F) {
	for _, id := range []string{
		"kri_dp_default___backend_http-port", "kri_dp_default___backend_5432", "kri_dp_default___backend_", "kri_mtp_default___backend_http-port",
		"kri_dp______", "kri", "", "..", "/", "%", "\x00", "kri_dp_default___backend_http-port/_policies", "\xff", "?", "#",
	} {
		f.Add("default", "backend", id)
	}
	f.Add("", "", "")
	f.Add("other", "web.shop", "kri_dp_default_zone-1_shop_web_main")
	r := load(f, "mesh")
	own := map[string]bool{}
	for _, m := range r.sorted() {
		for _, d := range m.dataplanes {
			for _, in := range newDataplaneView(d, "").Inbounds {
				own[m.name+" "+d.Name+" "+in.KRI], own[m.name+" "+d.Workload.Name+" "+in.KRI] = true, true
			}
		}
	}
	handler := r.Handler()
	f.Fuzz(func(t *testing.T, mesh, name, id string) {
		path := "/meshes/" + url.PathEscape(mesh) + "/dataplanes/" + url.PathEscape(name) + "/_inbounds/" + url.PathEscape(id) + "/_policies"
		req, err := http.NewRequest(http.MethodGet, path, nil)
		if err != nil {
			t.Skip(err)
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, req)
		switch w.Code {
		case http.StatusOK:
			if !own[mesh+" "+name+" "+id] {
				t.Errorf("%q of %q in %q is answered", id, name, mesh)
			}
		case http.StatusBadRequest, http.StatusNotFound:
			if own[mesh+" "+name+" "+id] {
				t.Errorf("%q of %q in %q gets %d", id, name, mesh, w.Code)
			}
			if p := readProblem(t, w); p.Status != w.Code || p.Detail == "" {
				t.Errorf("status %d, problem %+v", w.Code, p)
			}
		default:
			t.Errorf("status %d", w.Code)
		}
		if !json.Valid(w.Body.Bytes()) {
			t.Errorf("no JSON: %s", w.Body)
		}
	})
}

// The page takes anything in its query.
func FuzzPage(f *testing.F) {
	f.Add("kri_dp_default___backend_http-port", "spiffe://trust-domain.mesh/ns/default/sa/web", "GET", "/metrics")
	f.Add("kri_dp_default___backend_5432", "", "", "")
	f.Add("<script>", "\xff", "<b>", "/%00")
	handler := load(f, "mesh").Handler()
	f.Fuzz(func(t *testing.T, inbound, identity, method, path string) {
		query := url.Values{"inbound": {inbound}, "identity": {identity}, "method": {method}, "path": {path}}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/?"+query.Encode(), nil))
		if w.Code != 200 && w.Code != 400 && w.Code != 404 {
			t.Errorf("status %d", w.Code)
		}
	})
}
