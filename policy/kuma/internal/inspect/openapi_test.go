package inspect

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
)

// contract is the OpenAPI document beside a running server.
type contract struct {
	doc    *openapi3.T
	router routers.Router
	server *httptest.Server
}

func newContract(t *testing.T, r *Resources) contract {
	t.Helper()
	server := httptest.NewServer(r.Handler())
	t.Cleanup(server.Close)
	served := fetch(t, server, http.MethodGet, "/openapi.yaml")
	doc, err := openapi3.NewLoader().LoadFromData(served.body)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		t.Fatal(err)
	}
	return contract{doc, router, server}
}

type response struct {
	request *http.Request
	status  int
	header  http.Header
	body    []byte
}

func fetch(t *testing.T, server *httptest.Server, method, target string) response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, server.URL+target, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := server.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response{req, res.StatusCode, res.Header, body}
}

// check compares a response with the operation in the document.
func (c contract) check(t *testing.T, got response) error {
	t.Helper()
	asked := got.request.Clone(t.Context())
	// The document names no host.
	asked.URL.Host, asked.URL.Scheme, asked.Host = "", "", ""
	route, params, err := c.router.FindRoute(asked)
	if err != nil {
		return err
	}
	options := &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true}
	for contentType := range route.Operation.Responses.Status(http.StatusOK).Value.Content {
		// A response without a schema is not JSON.
		options.ExcludeResponseBody = !strings.Contains(contentType, "json")
	}
	return openapi3filter.ValidateResponse(t.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: asked, PathParams: params, Route: route},
		Status:                 got.status, Header: got.header, Body: io.NopCloser(bytes.NewReader(got.body)), Options: options,
	})
}

// problem compares a refusal that belongs to no operation with the Problem schema.
func (c contract) problem(t *testing.T, got response) {
	t.Helper()
	var value any
	unmarshal(t, got.body, &value)
	if err := c.doc.Components.Schemas["Problem"].Value.VisitJSON(value); err != nil {
		t.Errorf("%v: %s", err, got.body)
	}
	if contentType := got.header.Get("Content-Type"); contentType != "application/problem+json" {
		t.Errorf("it is %q", contentType)
	}
}

func TestResponsesKeepTheContract(t *testing.T) {
	t.Parallel()
	c, routed := newContract(t, load(t, "mesh")), newContract(t, load(t, "routes"))
	const own = "/meshes/default/dataplanes/backend"
	for target, status := range map[string]int{
		"/":             200,
		"/openapi.yaml": 200,
		"/?inbound=kri_dp_default___backend_http-port": 200,
		"/?inbound=main":                        400,
		"/?inbound=kri_dp_default___backend_80": 404,
		"/?proxy=kri_dp_default__web-ns_web_":   200,
		"/?proxy=kri_dp_default__web-ns_gone_":  404,
		toShop[:strings.LastIndex(toShop, "/")]: 200,
		toShop + "/_policies":                   200,
		toShop + "/_routes":                     200,
		toShop + "/_routes/kri_mhttpr_default__shop-ns_to-shop_rule_0/_policies":                         200,
		toShop + "/_routes/kri_mhttpr_default__shop-ns_to-shop_rule_9/_policies":                         404,
		toShop + "/_routes/to-shop/_policies":                                                            400,
		toShop + "x/_routes":                                                                             404,
		strings.Replace(toShop, "kri_msvc", "msvc", 1) + "/_policies":                                    400,
		strings.Replace(toShop, "web.web-ns", "gone", 1) + "/_policies":                                  404,
		"/meshes/default/dataplanes/away.away-ns/_outbounds/kri_msvc_default__shop-ns_shop_http/_routes": 200,
		"/meshes/default/dataplanes":                                                                     200,
		"/meshes/other/dataplanes":                                                                       404,
		own:                                                                                              200,
		"/meshes/default/dataplanes/web.shop":                                                            200,
		"/meshes/default/dataplanes/nobody":                                                              404,
		own + "/_policies":                                                                               200,
		"/meshes/default/dataplanes/web/_policies":                                                       200,
		"/meshes/default/dataplanes/nobody/_policies":                                                    404,
		own + "/_inbounds":                                                                               200,
		"/meshes/other/dataplanes/backend/_inbounds":                                                     404,
		httpPort: 200,
		own + "/_inbounds/kri_dp_default___backend_5432/_policies":                                200,
		"/meshes/default/dataplanes/web/_inbounds/kri_dp_default_zone-1_shop_web_main/_policies":  200,
		own + "/_inbounds/http-port/_policies":                                                    400,
		own + "/_inbounds/kri_dp_default___backend_nothing/_policies":                             404,
		own + "/_inbounds/kri_mtp_default___backend_http-port/_policies":                          404,
		"/meshes/default/dataplanes/nobody/_inbounds/kri_dp_default___nobody_http-port/_policies": 404,
	} {
		t.Run(target, func(t *testing.T) {
			t.Parallel()
			c := c
			if strings.Contains(target, "/_outbounds") || strings.Contains(target, "proxy=") {
				c = routed
			}
			got := fetch(t, c.server, http.MethodGet, target)
			if got.status != status {
				t.Fatalf("status %d, want %d: %s", got.status, status, got.body)
			}
			if err := c.check(t, got); err != nil {
				t.Errorf("%v", err)
			}
			refused := fetch(t, c.server, http.MethodPost, target)
			if refused.status != http.StatusMethodNotAllowed {
				t.Errorf("POST gets %d", refused.status)
			}
			c.problem(t, refused)
			if err := c.check(t, refused); !errors.Is(err, routers.ErrMethodNotAllowed) {
				t.Errorf("the document has an operation for POST: %v", err)
			}
		})
	}
	nowhere := fetch(t, c.server, http.MethodGet, "/nowhere")
	if nowhere.status != http.StatusNotFound {
		t.Errorf("an unknown path gets %d", nowhere.status)
	}
	c.problem(t, nowhere)
}

// An answer without an entry has the warnings at its root.
func TestEmptyResponsesKeepTheContract(t *testing.T) {
	t.Parallel()
	for name, policies := range map[string]string{
		"no policy": "",
		"no rule":   "---\n{type: MeshTrafficPermission, name: empty, spec: {}}\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newContract(t, parse(t, dataplaneOnly+policies, permission.Options{}))
			for _, target := range []string{httpPort, "/meshes/default/dataplanes/backend/_policies"} {
				if err := c.check(t, fetch(t, c.server, http.MethodGet, target)); err != nil {
					t.Errorf("%s: %v", target, err)
				}
			}
		})
	}
}

// The check finds a response that the document does not allow.
func TestContractRefusesWrongResponses(t *testing.T) {
	t.Parallel()
	c := newContract(t, load(t, "mesh"))
	sound := fetch(t, c.server, http.MethodGet, httpPort)
	for name, change := range map[string]func(*response){
		"another status": func(r *response) { r.status = http.StatusTeapot },
		"another type":   func(r *response) { r.header.Set("Content-Type", "text/plain") },
		"no policies":    func(r *response) { r.body = []byte(`{}`) },
		"an unknown field": func(r *response) {
			r.body = bytes.Replace(r.body, []byte(`{"policies"`), []byte(`{"more":1,"policies"`), 1)
		},
		"a rule without origin": func(r *response) {
			r.body = bytes.Replace(r.body, []byte(`"origin":"kri_mtp_default___by-mesh-operator_",`), nil, 1)
		},
		"an origin twice": func(r *response) {
			one := []byte(`{"kri":"kri_mtp_default___by-mesh-operator_"}`)
			r.body = bytes.Replace(r.body, one, append(append(slices.Clone(one), ','), one...), 1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			changed := response{sound.request, sound.status, sound.header.Clone(), slices.Clone(sound.body)}
			change(&changed)
			if err := c.check(t, changed); err == nil {
				t.Errorf("it passes: %s", changed.body)
			}
		})
	}
}

// The document has exactly the paths that are served. Each is served with the examples of
// its parameters.
func TestPathsAreServed(t *testing.T) {
	t.Parallel()
	c := newContract(t, load(t, "mesh"))
	documented := slices.Sorted(maps.Keys(c.doc.Paths.Map()))
	if diff := cmp.Diff(slices.Sorted(maps.Keys(handler{}.routes())), documented); diff != "" {
		t.Errorf("(-served +documented):\n%s", diff)
	}
	for path, item := range c.doc.Paths.Map() {
		target := path
		for _, parameter := range item.Parameters {
			example, ok := parameter.Value.Example.(string)
			if !ok {
				t.Fatalf("%s: parameter %s has no example", path, parameter.Value.Name)
			}
			target = strings.ReplaceAll(target, "{"+parameter.Value.Name+"}", example)
		}
		if got := fetch(t, c.server, http.MethodGet, target); got.status != http.StatusOK {
			t.Errorf("%s: status %d: %s", target, got.status, got.body)
		}
	}
}

// An answer shows policies of the other designs in their own form.
func TestForms(t *testing.T) {
	t.Parallel()
	conditions := dataplaneOnly + `---
type: MeshTrafficPermission
name: tree
spec:
  rules:
    - {conditions: [{spiffeId: {type: Prefix, value: spiffe://td/a/}, method: GET}, {path: {type: Exact, value: /}}], default: {action: Allow}}
    - {default: {action: Deny}}
`
	nested := dataplaneOnly + `---
type: MeshTrafficPermission
name: tree
spec:
  rules:
    - {conditions: [{spiffeId: {type: Prefix, value: spiffe://td/}}], default: {action: Allow}}
    - {conditions: [{spiffeId: {type: Prefix, value: spiffe://td/legacy/}}], default: {action: AllowWithShadowDeny}}
`
	from := strings.Replace(dataplaneOnly, "protocol:", "tags: {kuma.io/service: backend}, protocol:", 1) + `---
type: MeshTrafficPermission
name: clients
spec:
  targetRef: {kind: MeshService, name: backend}
  from:
    - {targetRef: {kind: Mesh}, default: {action: Deny}}
    - {targetRef: {kind: MeshServiceSubset, name: web, mesh: other, tags: {env: dev}}, default: {action: ALLOW_WITH_SHADOW_DENY}}
`
	const proxy = "/meshes/default/dataplanes/backend/_policies"
	for name, tt := range map[string]struct {
		yaml, target, want string
		opts               permission.Options
	}{
		"conditions": {conditions, httpPort,
			`"rules":[{"conditions":[{"spiffeId":{"type":"Prefix","value":"spiffe://td/a/"},"method":"GET"},{"path":{"type":"Exact","value":"/"}}],"conf":{"action":"Allow"},` +
				`"origin":"kri_mtp_default___tree_","kri":"kri_mtp_default___tree_"},{"conf":{"action":"Deny"},"origin":"kri_mtp_default___tree_","kri":"kri_mtp_default___tree_"}],` +
				`"origins":[{"kri":"kri_mtp_default___tree_"}]`, permission.Options{Option: permission.Option3}},
		"merged conditions": {conditions, proxy, `"policies":[],"warnings":[`, permission.Options{Option: permission.Option3}},
		"why conditions do not merge": {conditions, proxy,
			`{"reason":"ignored","kri":"kri_mtp_default___tree_","place":"mesh.yaml:6","message":"it has actions, which do not merge into one conf: ask for the policies of an inbound"}`,
			permission.Options{Option: permission.Option3}},
		"from": {from, httpPort,
			`"rules":[{"from":{"kind":"Mesh"},"conf":{"action":"Deny"},"origin":"kri_mtp_default___clients_","kri":"kri_mtp_default___clients_"},` +
				`{"from":{"kind":"MeshServiceSubset","name":"web","mesh":"other","tags":{"env":"dev"}},"conf":{"action":"ALLOW_WITH_SHADOW_DENY"},`, permission.Options{}},
		"merged from": {from, proxy, `"policies":[],"warnings":[`, permission.Options{}},
		"page of conditions": {conditions, "/?inbound=kri_dp_default___backend_http-port&identity=spiffe://td/b",
			`<strong class="deny">deny</strong> by <code>Deny</code>`, permission.Options{Option: permission.Option3}},
		"page of nested conditions": {nested, "/?inbound=kri_dp_default___backend_http-port&identity=spiffe://td/legacy/a",
			", and there identity starts with ", permission.Options{Option: permission.Option3}},
		"page of from": {from, "/?inbound=kri_dp_default___backend_http-port&identity=spiffe://other/web+kuma://env/dev",
			`<strong class="allow">allow</strong> by <code>MeshTrafficPermission</code> because`, permission.Options{}},
		"page of from for another": {from, "/?inbound=kri_dp_default___backend_http-port&identity=spiffe://default/web",
			`<strong class="deny">deny</strong>: no rule allows it`, permission.Options{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := parse(t, tt.yaml, tt.opts)
			w := get(t, r, tt.target)
			if body := w.Body.String(); w.Code != http.StatusOK || !strings.Contains(body, tt.want) {
				t.Errorf("status %d: %s\nwant in it %s", w.Code, body, tt.want)
			}
			if !strings.HasPrefix(tt.target, "/?") {
				c := newContract(t, r)
				if err := c.check(t, fetch(t, c.server, http.MethodGet, tt.target)); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
