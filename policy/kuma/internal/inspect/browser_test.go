package inspect

import (
	"net/http/httptest"
	"testing"

	"github.com/meshproof/meshproof/internal/browsertest"
)

func TestBrowserReadsThePage(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(load(t, "mesh").Handler())
	t.Cleanup(server.Close)
	const own = "kri_dp_default___backend_http-port"
	for name, tt := range map[string]struct {
		target     string
		want, lack []string
	}{
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
