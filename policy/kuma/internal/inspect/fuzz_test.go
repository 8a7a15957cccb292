package inspect

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
)

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
