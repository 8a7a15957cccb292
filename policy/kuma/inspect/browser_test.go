package inspect

import (
	"image/color"
	"net/http/httptest"
	"strings"
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
			dom := browsertest.DOM(t, server.URL+tt.target)
			for _, want := range tt.want {
				if !strings.Contains(dom, want) {
					t.Errorf("want %s in\n%s", want, dom)
				}
			}
			for _, lack := range tt.lack {
				if strings.Contains(dom, lack) {
					t.Errorf("there must be no %s in\n%s", lack, dom)
				}
			}
		})
	}
}

// The page takes the colours that its reader prefers, thus its style is let in.
func TestBrowserColours(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(load(t, "mesh").Handler())
	t.Cleanup(server.Close)
	for name, tt := range map[string]struct {
		scheme browsertest.Scheme
		want   color.RGBA
	}{
		"dark":  {browsertest.Dark, color.RGBA{0x0d, 0x11, 0x17, 0xff}},
		"light": {browsertest.Light, color.RGBA{0xff, 0xff, 0xff, 0xff}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			picture := browsertest.Screenshot(t, server.URL, tt.scheme, "800", "600")
			if got := color.RGBAModel.Convert(picture.At(1, 590)); got != tt.want {
				t.Errorf("the page is %v, want %v", got, tt.want)
			}
		})
	}
}
