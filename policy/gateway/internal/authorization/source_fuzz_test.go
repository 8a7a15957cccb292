package authorization_test

import (
	"encoding/json"
	"testing"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/gateway/internal/authorization"
	"github.com/meshproof/meshproof/policy/manifest"
)

// FuzzSource has any values as the sources of a rule, and any caller. If the sources are
// accepted, both opinions agree, and the named SPIFFE ID gets in.
func FuzzSource(f *testing.F) {
	f.Add("spiffe://td/ns/a/sa/x", "a", "x", "spiffe://td/ns/a/sa/x", "x")
	f.Add("spiffe://td/a", "a", "*", "spiffe://td/ns/a/sa/", "spiffe://td/ns/a/sa/x")
	f.Add("spiffe://td/*", "a/sa/x", "*/..", "", "")
	f.Add("spiffe://td", "", "a.b", "spiffe://td/ns/default/sa/a.b", "")
	f.Fuzz(func(t *testing.T, id, namespace, name, uri, dns string) {
		account := map[string]any{"name": name}
		if namespace != "" {
			account["namespace"] = namespace
		}
		sources, err := json.Marshal([]map[string]any{
			{"type": "SPIFFE", "spiffe": id}, {"type": "ServiceAccount", "serviceAccount": account},
		})
		if err != nil {
			t.Fatal(err)
		}
		docs, err := manifest.Parse("f.yaml", []byte(one("p", "{}", "[{sources: "+string(sources)+"}]")))
		if err != nil {
			return
		}
		ps, err := authorization.ParseAll(docs)
		if err != nil {
			return
		}
		in := inbounds()[0]
		program := authorization.Lower(authorization.Select(ps, in), in, options)
		if err := program.Check(); err != nil {
			t.Fatal(err)
		}
		named := policy.Request{URIs: []string{id}}
		for _, r := range []policy.Request{named, {URIs: []string{uri}}, {URIs: []string{"x", uri}, DNS: []string{dns}}, {DNS: []string{dns}}} {
			if first, second := policy.Decide(program, r), authorization.Evaluate(ps, in, options, r); first != second {
				t.Fatalf("%q: Decide says %+v, Evaluate %+v:\n%s", r, first, second, program)
			}
		}
		if d := policy.Decide(program, named); d.Effect != policy.Allow {
			t.Fatalf("%q is named, and the program says %s:\n%s", id, d.Verdict, program)
		}
	})
}
