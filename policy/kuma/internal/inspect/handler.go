package inspect

import (
	_ "embed"
	"encoding/json"
	"net/http"
	"path"
	"strconv"

	"github.com/meshproof/meshproof/internal/dataplane"
	"github.com/meshproof/meshproof/internal/kri"
	"github.com/meshproof/meshproof/policy"
)

// OpenAPI is the document that describes what [Resources.Handler] serves.
//
//go:embed openapi.yaml
var OpenAPI []byte

// handler answers requests about resources. They are immutable but for what they keep, which has
// a lock.
type handler struct{ resources *Resources }

// routes returns the paths of the OpenAPI document. Every other path is a 404.
func (h handler) routes() map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{
		"/":                                h.page,
		"/openapi.yaml":                    h.openAPI,
		"/meshes/{mesh}/dataplanes":        h.dataplanes,
		"/meshes/{mesh}/dataplanes/{name}": h.dataplane,
		"/meshes/{mesh}/dataplanes/{name}/_policies":                                       h.proxyPolicies,
		"/meshes/{mesh}/dataplanes/{name}/_inbounds":                                       h.inbounds,
		"/meshes/{mesh}/dataplanes/{name}/_inbounds/{inbound}/_policies":                   h.inboundPolicies,
		"/meshes/{mesh}/dataplanes/{name}/_inbounds/{inbound}/_tree":                       h.inboundTree,
		"/meshes/{mesh}/dataplanes/{name}/_outbounds":                                      h.serveOutbound(listOutbounds),
		"/meshes/{mesh}/dataplanes/{name}/_outbounds/{outbound}/_policies":                 h.serveOutbound(outboundPolicies),
		"/meshes/{mesh}/dataplanes/{name}/_outbounds/{outbound}/_routes":                   h.serveOutbound(outboundRoutes),
		"/meshes/{mesh}/dataplanes/{name}/_outbounds/{outbound}/_routes/{route}/_policies": h.serveOutbound(routePolicies),
	}
}

// Handler serves the Inspect API, its OpenAPI document and the page. It is safe for
// concurrent use.
func (r *Resources) Handler() http.Handler {
	h := handler{r}
	mux := http.NewServeMux()
	for pattern, serve := range h.routes() {
		if pattern == "/" {
			pattern = "/{$}"
		}
		mux.HandleFunc(pattern, serve)
	}
	mux.HandleFunc("/", h.unknown)
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		switch {
		case req.Method != http.MethodGet && req.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			newProblem(http.StatusMethodNotAllowed, "method %s is not allowed: use GET", req.Method).write(w)
		case path.Clean(req.URL.Path) != req.URL.Path:
			// The mux would redirect to another path than the request has.
			h.unknown(w, req)
		default:
			mux.ServeHTTP(w, req)
		}
	})
}

func (handler) unknown(w http.ResponseWriter, req *http.Request) {
	notFound("there is nothing at %s: see /openapi.yaml", req.URL.EscapedPath()).write(w)
}

func (handler) openAPI(w http.ResponseWriter, _ *http.Request) {
	write(w, "application/yaml", http.StatusOK, OpenAPI)
}

// dataplaneItem is a dataplane in a list.
type dataplaneItem struct {
	Type   string            `json:"type"`
	Mesh   string            `json:"mesh"`
	Name   string            `json:"name"`
	KRI    kri.KRI           `json:"kri"`
	Labels map[string]string `json:"labels,omitempty"`
}

// inboundItem is an inbound in a list.
type inboundItem struct {
	KRI      kri.KRI         `json:"kri"`
	Name     string          `json:"name,omitempty"`
	Port     uint16          `json:"port"`
	Protocol policy.Protocol `json:"protocol"`
}

// list is a list in the form of Kuma's API. It is never split, so that Next is null.
type list[T any] struct {
	Total int     `json:"total"`
	Items []T     `json:"items"`
	Next  *string `json:"next"`
}

// dataplaneList is all dataplanes of a mesh.
type dataplaneList struct {
	list[dataplaneItem]
	// Warnings are here where no inbound shows them, for there is none.
	Warnings []Warning `json:"warnings,omitempty"`
}

func newDataplaneItem(d *dataplane.Dataplane) dataplaneItem {
	return dataplaneItem{Type: dataplane.Kind, Mesh: d.Workload.Mesh, Name: d.Name, KRI: d.ID(), Labels: d.Workload.Labels}
}

func (h handler) dataplanes(w http.ResponseWriter, req *http.Request) {
	name := req.PathValue("mesh")
	m := h.resources.meshes[name]
	if m == nil {
		notFound("there is no mesh %q", name).write(w)
		return
	}
	items := make([]dataplaneItem, len(m.dataplanes))
	for i, d := range m.dataplanes {
		items[i] = newDataplaneItem(d)
	}
	ok(w, dataplaneList{list[dataplaneItem]{Total: len(items), Items: items}, m.unplaced})
}

func (h handler) dataplane(w http.ResponseWriter, req *http.Request) {
	_, d, refusal := h.resources.find(req.PathValue("mesh"), req.PathValue("name"))
	if refusal != nil {
		refusal.write(w)
		return
	}
	ok(w, newDataplaneItem(d))
}

func (h handler) inbounds(w http.ResponseWriter, req *http.Request) {
	_, d, refusal := h.resources.find(req.PathValue("mesh"), req.PathValue("name"))
	if refusal != nil {
		refusal.write(w)
		return
	}
	items := make([]inboundItem, len(d.Inbounds))
	for i, in := range d.Inbounds {
		items[i] = inboundItem{KRI: kri.Inbound(in), Name: in.Name, Port: in.Port, Protocol: in.Protocol}
	}
	ok(w, list[inboundItem]{Total: len(items), Items: items})
}

func (h handler) proxyPolicies(w http.ResponseWriter, req *http.Request) {
	m, d, refusal := h.resources.find(req.PathValue("mesh"), req.PathValue("name"))
	if refusal != nil {
		refusal.write(w)
		return
	}
	ok(w, h.resources.proxyPolicies(m, d))
}

func (h handler) inboundPolicies(w http.ResponseWriter, req *http.Request) {
	m, d, refusal := h.resources.find(req.PathValue("mesh"), req.PathValue("name"))
	if refusal != nil {
		refusal.write(w)
		return
	}
	in, refusal := findInbound(d, req.PathValue("inbound"))
	if refusal != nil {
		refusal.write(w)
		return
	}
	ok(w, h.resources.inboundPolicies(m, in))
}

func ok(w http.ResponseWriter, body any) { writeJSON(w, "application/json", http.StatusOK, body) }

// writeJSON writes a body of a type of this package. They all marshal.
func writeJSON(w http.ResponseWriter, contentType string, status int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		panic(err) // a body that cannot be marshalled is a defect of this package
	}
	write(w, contentType, status, append(text, '\n'))
}

func write(w http.ResponseWriter, contentType string, status int, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	// An error means that the client is gone.
	_, _ = w.Write(body)
}
