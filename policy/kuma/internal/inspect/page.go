package inspect

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/meshproof/meshproof/internal/dataplane"
	"github.com/meshproof/meshproof/internal/kri"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
)

//go:embed page.html page.css
var assets embed.FS

var (
	// pageTemplate is parsed when a page is written, because most runs of the program write none.
	pageTemplate = sync.OnceValue(func() *template.Template {
		return template.Must(template.New("page.html").Funcs(template.FuncMap{"text": jsonText, "isTCP": func(l policy.Layer) bool { return l == policy.L4 }}).ParseFS(assets, "page.html"))
	})
	pageStyle = style()
	// pagePolicy allows the page's own style and its empty icon. The page has no script.
	pagePolicy = "default-src 'none'; style-src 'sha256-" + digest(pageStyle) + "'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

func style() template.CSS {
	text, err := assets.ReadFile("page.css")
	if err != nil {
		panic(err) // it is embedded above
	}
	return template.CSS(text)
}

func digest(css template.CSS) string {
	sum := sha256.Sum256([]byte(css))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// view is what the page shows.
type view struct {
	Style   template.CSS
	Meshes  []meshView
	Problem *problem
	// Inbound is the chosen inbound, nil where none is chosen.
	Inbound *inboundView
	// Proxy is the chosen dataplane as a caller, nil where none is chosen.
	Proxy *proxyView
}

type meshView struct {
	Name string
	// Warnings has the warnings that no inbound shows.
	Warnings   []Warning
	Dataplanes []dataplaneView
}

type dataplaneView struct {
	Name, KRI string
	Inbounds  []inboundLink
	// Sends is true where there are services that the dataplane can call, Chosen where the
	// page shows them.
	Sends, Chosen bool
}

// proxyView is what a dataplane sends, and where.
type proxyView struct {
	KRI, Mesh, Dataplane string
	Outbounds            []routing.Outbound
	Warnings             []Warning
}

type inboundLink struct {
	KRI, Section, Protocol string
	Chosen                 bool
}

type inboundView struct {
	KRI, Mesh, Dataplane, Section, Protocol string
	// L7 is true where a request has a method and a path.
	L7 bool
	// SNI is true where a rule asks for the server name.
	SNI bool
	// Legacy is true where from governs the inbound.
	Legacy bool
	Rules  []Rule
	// Tree is the decision tree as text, empty where there is none.
	Tree     string
	Warnings []Warning
	// Asked is true once the form was sent.
	Asked    bool
	Question question
	Answer   answer
	Groups   []group
	Total    int
}

// page shows all inbounds, and the inbound in the query where there is one.
func (h handler) page(w http.ResponseWriter, req *http.Request) {
	query := req.URL.Query()
	chosen, proxy := query.Get("inbound"), query.Get("proxy")
	v, status := view{Style: pageStyle}, http.StatusOK
	for _, m := range h.resources.sorted() {
		shown := meshView{Name: m.name, Warnings: m.unplaced}
		for _, d := range m.dataplanes {
			item := newDataplaneView(d, chosen)
			item.Sends, item.Chosen = h.resources.outbounds.HasDestinations(m.name), item.KRI == proxy
			shown.Dataplanes = append(shown.Dataplanes, item)
			if item.Chosen {
				v.Proxy = h.proxyView(m, d)
			}
		}
		v.Meshes = append(v.Meshes, shown)
	}
	if proxy != "" && v.Proxy == nil {
		v.Problem, status = notFound("there is no dataplane %s", proxy), http.StatusNotFound
	}
	if chosen != "" {
		m, d, in, refusal := h.resources.chosen(chosen)
		if refusal != nil {
			v.Problem, status = refusal, refusal.Status
		} else {
			q := question{Identity: strings.TrimSpace(query.Get("identity")), Method: "GET", Path: "/"}
			if query.Has("method") {
				q.Method = strings.TrimSpace(query.Get("method"))
			}
			if query.Has("path") {
				q.Path = strings.TrimSpace(query.Get("path"))
			}
			q.SNI = strings.TrimSpace(query.Get("sni"))
			v.Inbound = h.inboundView(m, d, in, q, query.Has("identity"))
		}
	}
	var body bytes.Buffer
	if err := pageTemplate().Execute(&body, v); err != nil {
		panic(err) // the template fits every view
	}
	w.Header().Set("Content-Security-Policy", pagePolicy)
	w.Header().Set("Referrer-Policy", "no-referrer")
	write(w, "text/html; charset=utf-8", status, body.Bytes())
}

// chosen finds an inbound in all meshes by its identifier.
func (r *Resources) chosen(text string) (*mesh, *dataplane.Dataplane, policy.Inbound, *problem) {
	id, err := kri.Parse(text)
	if err != nil {
		return nil, nil, policy.Inbound{}, badRequest("%v", err)
	}
	if m := r.meshes[id.Mesh]; m != nil {
		for _, d := range m.dataplanes {
			whole := id
			whole.Section = ""
			if d.ID() == whole {
				in, refusal := findInbound(d, text)
				return m, d, in, refusal
			}
		}
	}
	return nil, nil, policy.Inbound{}, notFound("there is no inbound %s", text)
}

func newDataplaneView(d *dataplane.Dataplane, chosen string) dataplaneView {
	v := dataplaneView{Name: d.Name, KRI: d.ID().String()}
	for _, in := range d.Inbounds {
		id := kri.Inbound(in).String()
		v.Inbounds = append(v.Inbounds, inboundLink{KRI: id, Section: in.Section(), Protocol: in.Protocol.String(), Chosen: id == chosen})
	}
	return v
}

func (h handler) proxyView(m *mesh, d *dataplane.Dataplane) *proxyView {
	proxy := h.resources.last.proxyOf(d, h.resources.outbounds)
	return &proxyView{KRI: d.ID().String(), Mesh: m.name, Dataplane: d.Name, Outbounds: proxy.Outbounds, Warnings: m.outboundWarnings(proxy)}
}

func (h handler) inboundView(m *mesh, d *dataplane.Dataplane, in policy.Inbound, q question, asked bool) *inboundView {
	sel := m.selectFor(in, h.resources.opts)
	rules, _ := m.rulesOf(sel.Policies)
	v := &inboundView{
		KRI: kri.Inbound(in).String(), Mesh: m.name, Dataplane: d.Name, Section: in.Section(), Protocol: in.Protocol.String(),
		L7: in.Protocol.Layer() == policy.L7, Legacy: slices.ContainsFunc(rules, func(r Rule) bool { return r.From != nil }), Rules: rules, Warnings: h.resources.inboundWarnings(m, sel, in),
		Asked: asked, Question: q, Tree: h.resources.treeText(m, in),
	}
	v.SNI = slices.ContainsFunc(sel.Policies, asksForSNI)
	if asked {
		v.Answer = q.answer(sel, in, h.resources.opts)
	}
	v.Groups, v.Total = q.groups(sel, in, h.resources.opts)
	return v
}

// asksForSNI reports whether a matcher of the policy asks for the server name.
func asksForSNI(p permission.Policy) bool {
	return slices.ContainsFunc(p.Rules, func(r permission.Rule) bool {
		return slices.ContainsFunc(slices.Concat(r.Lists[:]...), func(m permission.Matcher) bool { return m.SNI != "" })
	})
}

// jsonText prints a part of a policy on one line.
func jsonText(part any) (string, error) {
	text, err := json.Marshal(part)
	return string(text), err
}
