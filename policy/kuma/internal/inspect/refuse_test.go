package inspect

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
)

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
