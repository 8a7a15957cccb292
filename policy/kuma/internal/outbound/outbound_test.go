package outbound_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/meshproof/meshproof/internal/dataplane"
	"github.com/meshproof/meshproof/internal/golden"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/outbound"
	"github.com/meshproof/meshproof/policy/manifest"
)

// TestProxies holds the routing program of each Dataplane of an archive against the archive.
// Released Kuma has a file of its own where its program differs.
func TestProxies(t *testing.T) {
	t.Parallel()
	golden.Archives(t, "*.txtar", func(t *testing.T, input string) (out []txtar.File) {
		docs, planes := read(t, input)
		r, err := outbound.Parse(docs, "kuma-system", outbound.Seed)
		if err != nil {
			t.Fatal(err)
		}
		var proxies []policy.Inbound
		for _, d := range planes {
			proxies = append(proxies, d.Caller())
		}
		mismatches := ""
		for _, m := range r.Mismatches("default", proxies) {
			mismatches += fmt.Sprintf("%s at %s: %s\n", m.Origin, m.Place, m.Reason)
		}
		if mismatches != "" {
			out = append(out, txtar.File{Name: "mismatches", Data: []byte(mismatches)})
		}
		for _, d := range planes {
			var texts [2]string
			for _, design := range []outbound.Design{outbound.Seed, outbound.Released} {
				r, err := outbound.Parse(docs, "kuma-system", design)
				if err != nil {
					t.Fatal(err)
				}
				slices.Reverse(docs)
				texts[design] = text(r.ProxyOf(d.Caller()))
			}
			out = append(out, txtar.File{Name: d.Name, Data: []byte(texts[outbound.Seed])})
			if texts[outbound.Released] != texts[outbound.Seed] {
				out = append(out, txtar.File{Name: d.Name + ", released", Data: []byte(texts[outbound.Released])})
			}
		}
		return out
	})
}

// read splits the documents of an archive.
func read(t testing.TB, input string) (docs []manifest.Document, planes []*dataplane.Dataplane) {
	t.Helper()
	all, err := manifest.Parse("policies.yaml", []byte(input))
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range all {
		if !dataplane.Owns(doc) {
			docs = append(docs, doc)
			continue
		}
		d, err := dataplane.Parse(doc)
		if err != nil {
			t.Fatal(err)
		}
		planes = append(planes, d)
	}
	return docs, planes
}

// text is a proxy as the archives have it.
func text(p outbound.Proxy) string {
	var b strings.Builder
	b.WriteString(p.Proxy.String())
	for _, r := range p.Rules {
		fmt.Fprintf(&b, "rule %s of %s\n", r.ID, strings.Join(r.Origins, ", "))
		for bound := range routing.Bounds {
			if r.Conf.Set(bound) {
				fmt.Fprintf(&b, "  %s %s at %s\n", bound, r.Conf[bound], r.Conf[bound].Place)
			}
		}
	}
	for _, i := range p.Ignored {
		fmt.Fprintf(&b, "ignored %s at %s: %s\n", i.Origin, i.Place, i.Reason)
	}
	return b.String()
}
