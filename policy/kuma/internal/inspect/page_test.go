package inspect

import (
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/browsertest"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
)

func ask(inbound, identity, method, path string) string {
	return "/?" + url.Values{"inbound": {inbound}, "identity": {identity}, "method": {method}, "path": {path}}.Encode()
}

func TestPage(t *testing.T) {
	t.Parallel()
	const (
		own    = "kri_dp_default___backend_http-port"
		tcp    = "kri_dp_default___backend_5432"
		domain = "spiffe://trust-domain.mesh/"
	)
	for name, tt := range map[string]struct {
		target     string
		status     int
		want, lack []string
	}{
		"list": {"/", 200, []string{
			"<h2>Mesh default</h2>", `<a href="/?inbound=` + own + `">http-port</a>`, `<a href="/?inbound=kri_dp_default_zone-1_shop_web_main">main</a>`, "Choose an inbound",
		}, []string{"<form", `aria-current="page"`}},
		"inbound": {"/?inbound=" + own, 200, []string{
			`<a href="/?inbound=` + own + `" aria-current="page">http-port</a>`,
			`<a href="` + httpPort + `">the same as JSON</a>`,
			"<strong>hidden</strong> <code>kri_mtp_default___by-service-owner_</code>: never allows: kri_mtp_default___by-mesh-operator_ denies the same identities",
			"<strong>idle</strong> <code>kri_mtp_default___misspelt_</code>", "<strong>ignored</strong> <code>kri_mtp_default_zone-1_shop_shop-only_</code>",
			`<caption>Everybody, by what the rules tell apart, for GET /</caption>`,
			domain + "ns/default/…</code> <small>except for those below</small></th><td class=\"allow\">allow</td><td><code>kri_mtp_default___by-service-owner_</code>",
			domain + "ns/default/sa/frontend</code></th><td class=\"deny\">deny</td><td><code>kri_mtp_default___by-mesh-operator_</code>",
			"everybody else</th><td class=\"deny\">deny</td><td><code>default</code>",
		}, []string{`id="answer"`, "Choose an inbound"}},
		"deny":        {ask(own, domain+"ns/default/sa/frontend", "GET", "/"), 200, []string{`<strong class="deny">deny</strong> by <code>kri_mtp_default___by-mesh-operator_</code> because`}, nil},
		"shadow":      {ask(own, domain+"ns/legacy/sa/a", "GET", "/"), 200, []string{`<strong class="allow">allow</strong> by`, `Shadow: <span class="deny">deny</span> by <code>kri_mtp_default___by-service-owner_</code>`}, nil},
		"path":        {ask(own, domain+"ns/observability/sa/p", "GET", "/a/../metrics"), 200, []string{`<strong class="allow">allow</strong> by <code>kri_mtp_default___by-mesh-operator_</code>`, "The rules see <code>GET /metrics</code>"}, nil},
		"no rule":     {ask(own, domain+"ns/observability/sa/p", "GET", "/"), 200, []string{`<strong class="deny">deny</strong> by <code>default</code>: no rule allows it`}, nil},
		"no identity": {ask(own, "", "GET", "/"), 200, []string{`<strong class="deny">deny</strong> by <code>default</code>`}, nil},
		// Envoy reads two URI SANs as one text, so a deny of the second one does not match.
		"two URI SANs": {ask(own, domain+"ns/default/sa/a "+domain+"ns/default/sa/frontend", "GET", "/"), 200, []string{`<strong class="allow">allow</strong>`}, nil},
		"bad identity": {ask(own, "web", "GET", "/"), 200, []string{`&#34;web&#34; is neither a SPIFFE ID`}, []string{"<strong class=\"allow\""}},
		"bad path":     {ask(own, "", "GET", "/a%2fb"), 200, []string{"the listener answers 400 before any policy is asked"}, []string{`id="groups"`}},
		"no method":    {ask(own, "", "", "/"), 200, []string{"a request has a method"}, []string{`id="groups"`}},
		"no path":      {ask(own, "", "GET", "metrics"), 200, []string{`path &#34;metrics&#34; does not begin with /`}, []string{`id="groups"`}},
		"tcp":          {"/?inbound=" + tcp + "&identity=" + domain + "a", 200, []string{`<strong class="deny">deny</strong> by <code>default</code>`, "rules tell apart</caption>", "sees neither path nor method"}, []string{`name="method"`}},
		"malformed":    {"/?inbound=http-port", 400, []string{"<h2>Bad Request</h2>", `<p role="alert">kri: parse`}, []string{"<form"}},
		"unknown":      {"/?inbound=kri_dp_default___backend_80", 404, []string{"<h2>Not Found</h2>", "no inbound with section"}, []string{"<form"}},
		"other mesh":   {"/?inbound=kri_dp_other___backend_80", 404, []string{"there is no inbound kri_dp_other___backend_80"}, []string{"<form"}},
		"escaped":      {ask("<script>alert(1)</script>", "", "", ""), 400, []string{"&lt;script&gt;"}, []string{"<script"}},
		"escaped value": {ask(own, `"><script>alert(1)</script>`, `"><b>`, `"><i>`), 200, []string{`value="&#34;&gt;&lt;script&gt;alert(1)&lt;/script&gt;"`},
			[]string{"<script", "<b>", "<i>"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := get(t, load(t, "mesh"), tt.target)
			body := w.Body.String()
			if contentType := w.Header().Get("Content-Type"); w.Code != tt.status || contentType != "text/html; charset=utf-8" {
				t.Errorf("status %d, %s, want %d", w.Code, contentType, tt.status)
			}
			for _, want := range tt.want {
				if !strings.Contains(body, want) {
					t.Errorf("want %s", want)
				}
			}
			for _, lack := range tt.lack {
				if strings.Contains(body, lack) {
					t.Errorf("there must be no %s", lack)
				}
			}
			if t.Failed() {
				t.Log(body)
			}
		})
	}
}

// The content security policy of the page admits its style, and nothing else.
func TestPagePolicy(t *testing.T) {
	t.Parallel()
	w := get(t, load(t, "mesh"), "/")
	style := regexp.MustCompile(`(?s)<style>(.*?)</style>`).FindStringSubmatch(w.Body.String())
	if style == nil {
		t.Fatal("the page has no style")
	}
	csp := w.Header().Get("Content-Security-Policy")
	if !strings.Contains(csp, "default-src 'none'; style-src 'sha256-"+digest(pageStyle)+"';") || style[1] != string(pageStyle) {
		t.Errorf("the policy %q does not fit the style", csp)
	}
	if _, err := base64.StdEncoding.DecodeString(digest(pageStyle)); err != nil {
		t.Error(err)
	}
}

func TestPageOfNothing(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		resources *Resources
		target    string
		want      string
	}{
		"no mesh":      {&Resources{}, "/", "There is no mesh."},
		"no dataplane": {parse(t, "{type: MeshTrafficPermission, name: p}", permission.Options{}), "/", "<li>no dataplane</li>"},
		"no inbound":   {parse(t, "{type: Dataplane, name: a}", permission.Options{}), "/", "<li>no inbound</li>"},
		"two meshes":   {parse(t, "{type: Dataplane, mesh: b, name: x}\n---\n{type: Dataplane, mesh: a, name: 'y'}", permission.Options{}), "/", "<h2>Mesh a</h2>\n<ul>\n<li><strong title=\"kri_dp_a___y_\">y</strong>"},
		"no rule":      {parse(t, dataplaneOnly, permission.Options{}), "/?inbound=kri_dp_default___backend_http-port", "No rule applies: everybody is denied."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if w := get(t, tt.resources, tt.target); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), tt.want) {
				t.Errorf("status %d: %s\nwant %s", w.Code, w.Body, tt.want)
			}
		})
	}
}

func TestBrowserReadsThePage(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(load(t, "mesh").Handler())
	t.Cleanup(server.Close)
	const own = "kri_dp_default___backend_http-port"
	for name, tt := range map[string]struct {
		target     string
		want, lack []string
	}{
		// With -short only the two pages with an answer are opened.
		"list": {"/", []string{"<h2>Mesh default</h2>", "<strong title=\"kri_dp_default___backend_\">backend</strong>", ">http-port</a>", "web.shop"}, nil},
		"rules in order": {"/?inbound=" + own, []string{
			"Rules, the weakest first", "kri_mtp_default___by-mesh-operator_</code>\n<dl><dt class=\"deny\">deny</dt>", "never allows: kri_mtp_default___by-mesh-operator_ denies",
		}, nil},
		"who": {ask(own, "spiffe://trust-domain.mesh/ns/legacy/sa/a", "GET", "/"), []string{
			`<strong class="allow">allow</strong> by <code>kri_mtp_default___by-service-owner_</code>`, `Shadow: <span class="deny">deny</span>`,
		}, nil},
		"escaped": {ask(own, `"><img src=x onerror=alert(1)>`, "GET", "/"), []string{"is neither a SPIFFE ID"}, []string{"<img"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if testing.Short() && !strings.Contains(tt.target, "method=") {
				t.Skip("slow: it starts one more browser")
			}
			browsertest.Expect(t, browsertest.DOM(t, server.URL+tt.target), tt.want, tt.lack)
		})
	}
}

func TestBrowserColours(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("slow: it starts two browsers; TestBrowserReadsThePage opens the page with -short too")
	}
	server := httptest.NewServer(load(t, "mesh").Handler())
	t.Cleanup(server.Close)
	browsertest.Colours(t, server.URL)
}

// The page of a dataplane shows where its requests go, how long they may take, and what has no
// effect.
func TestPageOfOutbounds(t *testing.T) {
	t.Parallel()
	r := load(t, "routes")
	body := get(t, r, "/?proxy=kri_dp_default__web-ns_web_").Body.String()
	for _, want := range []string{
		`<a href="/?proxy=kri_dp_default__web-ns_web_" aria-current="page">outbounds</a>`,
		`<h3>MeshService/shop-ns/shop:http <small>http on port 80 · <code>kri_msvc_default__shop-ns_shop_http</code></small></h3>`,
		`<th scope="row"><code>kri_mhttpr_default__shop-ns_to-shop_rule_0</code></th><td>path under &#34;/slow&#34;</td>`,
		"<b>requestTimeout</b> 15s<br><small>by <code>kri_mt_default__web-ns_of-route_</code> at <code>", "<b>requestTimeout</b> 2s<br><small>by <code>kri_mt_default__shop-ns_of-service_</code> at <code>",
		"<strong>idle</strong> <code>kri_mt_default__web-ns_of-never_</code>: it has no effect: of 2 proxies 1 have the policy",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("want %s in:\n%s", want, body)
		}
	}
	if gone := get(t, r, "/?proxy=kri_dp_default__web-ns_gone_"); gone.Code != http.StatusNotFound || !strings.Contains(gone.Body.String(), "there is no dataplane") {
		t.Errorf("an unknown dataplane gets %d", gone.Code)
	}
	if list := get(t, load(t, "tags"), "/").Body.String(); strings.Contains(list, ">outbounds<") {
		t.Error("a mesh without services has outbounds")
	}
}
