package browsertest

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestPage clicks, types, follows a link with the keyboard, prints and loads again.
func TestPage(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, err := w.Write([]byte(`<!doctype html><title>t</title><link rel="icon" href="data:,"><input id="in"><a id="a" href="#there">to</a><button id="b">b</button>
<p style="height: 200rem">tall</p><p id="there">there</p><output id="out"></output><script>
for (const e of ["keydown", "click", "hashchange", "beforeprint", "afterprint"]) addEventListener(e, (x) => { document.getElementById("out").value += " " + (x.key ?? x.type); });
</script>`))
		if err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	p := Open(t, server.URL)
	p.Click("#in")
	p.Type("a b")
	p.Want(`document.querySelector("#in").value`, "a b")
	p.Press(Slash)
	p.Want(`document.querySelector("#in").value`, "a b/")
	p.Press(Escape)
	p.Press(Tab)
	p.Press(Enter)
	p.Want(`location.hash`, "#there")
	p.Want(`document.querySelector("#out").value`, " click / Escape Tab Enter click hashchange")
	if printed := p.Print(); len(printed) < 1000 || string(printed[:5]) != "%PDF-" {
		t.Errorf("the page printed is %d bytes", len(printed))
	}
	p.Want(`document.querySelector("#out").value.slice(-23)`, " beforeprint afterprint")
	p.Reload()
	p.Want(`document.querySelector("#out").value + location.hash`, "#there")
}
