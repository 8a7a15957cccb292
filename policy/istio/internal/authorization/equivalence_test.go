package authorization_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/internal/dialecttest"
	"github.com/meshproof/meshproof/internal/golden"
	"github.com/meshproof/meshproof/internal/property"
	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/istio/internal/authorization"
	"github.com/meshproof/meshproof/policy/istio/internal/evaluation"
	"github.com/meshproof/meshproof/xds"
)

// values has the values that are drawn for each field. They are few and alike, so that rules
// often match, overlap or just fail.
var values = map[string][]string{
	"principals":        {"*", "td/ns/a/sa/x", "cluster.local/ns/a/sa/x", "old-td/ns/a/sa/x", "*-td/ns/a/sa/x", "other/ns/a/sa/x", "*/ns/a/sa/x", "*/sa/x", "td/ns/a/*", "td/ns/a/sa/x*", "spiffe://td/ns/a/sa/x", "*x", "*.x"},
	"namespaces":        {"*", "a", "ab", "a*", "*b", "a.b", "a*b"},
	"serviceAccounts":   {"x", "a/x", "ab/x", "a/x.y", "a.b/x", "default/x"},
	"methods":           {"GET", "*", "G*", "*T", "get"},
	"paths":             {"/a", "/a/*", "*/b", "*", "/a*", "*.html", "/a*b", "/{*}/b", "/a/{**}", "/{**}/b", "/a/{*}/{**}/c"},
	"ports":             {"8080", "5432", "09090", "0"},
	"hosts":             {"*", "a.example", "A.example", "a.*", "*.EXAMPLE", "a.example:8080"},
	"ipBlocks":          {"10.0.0.1", "10.0.0.0/8", "10.1.2.3/31", "0.0.0.0/0", "::1", "fd00::/8"},
	"requestPrincipals": {"*", "iss/sub", "iss/*", "*/sub", "*s/sub", "iss*", "*sub", "iss/s*", "iss", "https://iss/sub", "*/*", "iss/"},
	"trustDomains":      {"*", "td", "old-td", "other", "*-td", "o*", "cluster.local"},
	"texts":             {"*", "a", "a*", "*b", "a,b", "ab", ","},
}

// keys are the keys of when, with the field that has the same values.
var keys = map[string]string{
	"source.principal": "principals", "source.namespace": "namespaces", "source.serviceAccount": "serviceAccounts", "destination.port": "ports",
	"source.ip": "ipBlocks", "remote.ip": "ipBlocks", "source.trustDomain": "trustDomains", "request.auth.principal": "requestPrincipals",
	"connection.sni": "hosts", "request.headers[X-Role]": "texts", "request.headers[:path]": "paths", "request.headers[Host]": "hosts", "request.headers[:method]": "methods",
	"request.auth.claims[groups]": "texts", "request.auth.claims[a.b][c]": "texts", "request.auth.audiences": "texts", "request.auth.presenter": "texts",
}

var names = []string{
	"spiffe://td/ns/a/sa/x", "spiffe://old-td/ns/a/sa/x", "spiffe://other/ns/a/sa/x", "spiffe://td/ns/ab/sa/x", "spiffe://td/ns/a/sa/xy", "spiffe://td/ns/a/sa/x/y",
	"spiffe://td/ns/a/k/v/sa/x", "spiffe://td/ns/a/sa/x.y", "spiffe://td/ns/a/sa/xzy", "spiffe://td/ns/a.b/sa/x", "spiffe://td/ns/azb/sa/x", "spiffe:///ns/a/sa/x",
	"spiffe://spiffe://td/ns/a/sa/x", "td/ns/a/sa/x", "spiffe://td/ns/default/sa/x", "spiffe://td/ns/a/x", "spiffe://td/ns/a\nb/sa/x", "spiffe://td/ns/a/sa/\xffx", "frontend.x",
}

func list(field string) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		if field == "remoteIpBlocks" {
			field = "ipBlocks"
		}
		some := rapid.SliceOfN(rapid.SampledFrom(values[field]), 1, 3).Draw(t, field)
		for i := range some {
			some[i] = fmt.Sprintf("%q", some[i])
		}
		return "[" + strings.Join(some, ", ") + "]"
	})
}

// drawFields draws some of the fields, with their not.
func drawFields(t *rapid.T, fields ...string) string {
	var parts []string
	for _, field := range rapid.SliceOfNDistinct(rapid.SampledFrom(fields), 1, 2, rapid.ID).Draw(t, "fields") {
		form := rapid.IntRange(0, 3).Draw(t, "form")
		if form != 1 {
			parts = append(parts, field+": "+list(field).Draw(t, field))
		}
		if form == 1 || form == 2 {
			parts = append(parts, "not"+strings.ToUpper(field[:1])+field[1:]+": "+list(field).Draw(t, field))
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func drawRule(t *rapid.T) string {
	var parts []string
	if rapid.Bool().Draw(t, "from") {
		parts = append(parts, "from: ["+strings.Join(rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			if rapid.Bool().Draw(t, "accounts") {
				return "{source: " + drawFields(t, "serviceAccounts") + "}"
			}
			return "{source: " + drawFields(t, "principals", "namespaces", "trustDomains", "ipBlocks", "remoteIpBlocks", "requestPrincipals") + "}"
		}), 0, 2).Draw(t, "sources"), ", ")+"]")
	}
	if rapid.Bool().Draw(t, "to") {
		parts = append(parts, "to: ["+strings.Join(rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			return "{operation: " + drawFields(t, "methods", "paths", "ports", "hosts") + "}"
		}), 0, 2).Draw(t, "operations"), ", ")+"]")
	}
	if rapid.IntRange(0, 2).Draw(t, "when") == 0 {
		key := rapid.SampledFrom(slices.Sorted(maps.Keys(keys))).Draw(t, "key")
		field := rapid.SampledFrom([]string{"values", "notValues"}).Draw(t, "field")
		parts = append(parts, fmt.Sprintf("when: [{key: %q, %s: %s}]", key, field, list(keys[key]).Draw(t, "values")))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// drawCustomRule draws a rule of a CUSTOM, which says nothing of the caller's name or token.
func drawCustomRule(t *rapid.T) string {
	var parts []string
	if rapid.Bool().Draw(t, "from") {
		parts = append(parts, "from: [{source: "+drawFields(t, "ipBlocks", "remoteIpBlocks")+"}]")
	}
	if rapid.Bool().Draw(t, "to") {
		parts = append(parts, "to: [{operation: "+drawFields(t, "methods", "paths", "ports", "hosts")+"}]")
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func drawPolicies(t *rapid.T) string {
	var b strings.Builder
	for i := range rapid.IntRange(0, 5).Draw(t, "policies") {
		name := fmt.Sprintf("p%s%d", strings.Repeat("-", i%2), i)
		if namespace := rapid.SampledFrom([]string{"", "default", "finance", "istio-system"}).Draw(t, "namespace"); namespace != "" {
			name += ", namespace: " + namespace
		}
		action := rapid.SampledFrom([]string{"", "ALLOW", "DENY", "DENY", "AUDIT", "CUSTOM"}).Draw(t, "action")
		draw := drawRule
		if action == "CUSTOM" {
			draw = drawCustomRule
		}
		if action != "AUDIT" && action != "CUSTOM" && rapid.IntRange(0, 3).Draw(t, "dry run") == 0 {
			name += `, annotations: {istio.io/dry-run: "` + rapid.SampledFrom([]string{"true", "1", "false"}).Draw(t, "value") + `"}`
		}
		spec := rapid.SampledFrom([]string{"", "selector: {}, ", "selector: {matchLabels: {app: backend}}, ", "selector: {matchLabels: {app: backend, tier: web}}, "}).Draw(t, "selector")
		if action != "" {
			spec += "action: " + action + ", "
		}
		if action == "CUSTOM" {
			spec += "provider: {name: " + rapid.SampledFrom([]string{"opa", "opa", "opa", "down", "open", "gone"}).Draw(t, "provider") + "}, "
		}
		least := 0
		if action == "DENY" || action == "CUSTOM" {
			least = 1
		}
		if least > 0 || rapid.IntRange(0, 5).Draw(t, "rules") > 0 {
			spec += "rules: [" + strings.Join(rapid.SliceOfN(rapid.Custom(draw), least, 3).Draw(t, "rules"), ", ") + "]"
		}
		b.WriteString(one(name, spec))
	}
	return b.String()
}

func drawRequest(t *rapid.T, in policy.Inbound) policy.Request {
	r := policy.Request{
		URIs: rapid.SliceOfN(rapid.SampledFrom(names), 0, 2).Draw(t, "uris"),
		DNS:  rapid.SliceOfN(rapid.SampledFrom(names), 0, 1).Draw(t, "dns"),
		UTF8: rapid.Bool().Draw(t, "utf-8"),
		Port: rapid.SampledFrom([]uint16{in.Port, in.Port, 80, 0}).Draw(t, "port"),
		SNI:  rapid.SampledFrom([]string{"", "a.example", "b.example", "allow.ext-authz"}).Draw(t, "sni"),
	}
	addresses := rapid.SampledFrom([]string{"10.0.0.1", "10.1.2.2", "11.0.0.1", "::1", "fd12::1"})
	r.Source = netip.MustParseAddr(addresses.Draw(t, "source"))
	if rapid.Bool().Draw(t, "forwarded") {
		r.Remote = netip.MustParseAddr(addresses.Draw(t, "remote"))
	}
	if in.Protocol != policy.TCP {
		r.Method = rapid.SampledFrom([]string{"GET", "HEAD", "PUT", "get"}).Draw(t, "method")
		r.Path = rapid.SampledFrom([]string{"/", "/a", "/a?x=/b", "/a/b", "/ab", "/a/", "/x.html", "/a\xff/b", "*", "/a*b", "//b", "/a//c", "/a/x/c", "/a/x/y/c", "/x/b", "/a/ü"}).Draw(t, "path")
		r.Host = rapid.SampledFrom([]string{"a.example", "A.EXAMPLE", "a.example:8080", "b.example", ""}).Draw(t, "host")
		r.JoinsLines = rapid.Bool().Draw(t, "joins lines")
		texts := rapid.SampledFrom([]string{"a", "b", "ab", "", "a,b", "a\xffb"})
		for _, line := range rapid.SliceOfN(texts, 0, 2).Draw(t, "lines") {
			r.Headers = append(r.Headers, policy.Header{Name: "x-role", Value: line})
		}
		for _, line := range rapid.SliceOfN(rapid.SampledFrom([]string{"allow", "allow", "deny", "allow,deny"}), 0, 2).Draw(t, "authorizer") {
			r.Headers = append(r.Headers, policy.Header{Name: "x-ext-authz", Value: line})
		}
		if rapid.Bool().Draw(t, "token") {
			r.Others = map[string][]string{
				"claim iss": {rapid.SampledFrom([]string{"iss", "https://iss", "s", ""}).Draw(t, "issuer")},
				"claim sub": {rapid.SampledFrom([]string{"sub", "s", "", "*", "xsub"}).Draw(t, "subject")},
			}
			for _, name := range []string{"claim groups", "claim groups[]", "claim aud", "claim aud[]", "claim azp", `claim "a.b".c`, `claim "a.b".c[]`} {
				if some := rapid.SliceOfN(texts, 0, 2).Draw(t, name); len(some) > 0 {
					r.Others[name] = some
				}
			}
		}
	}
	return r
}

// TestEvaluateAgreesWithLower compares two independent readings of the same text,
// selection included.
func TestEvaluateAgreesWithLower(t *testing.T) {
	t.Parallel()
	seen := dialecttest.Outcomes{}
	property.Check(t, func(r *rapid.T) {
		yaml := drawPolicies(r)
		ps := parseAll(t, yaml)
		for _, in := range inbounds() {
			request := drawRequest(r, in)
			program := authorization.Lower(authorization.Select(ps, in, options), in, options)
			if err := program.Check(); err != nil {
				r.Fatal(err)
			}
			got := dialecttest.Agree(r, yaml, program, evaluation.ForInbound(ps, in, options), in, request)
			seen[fmt.Sprintf("%s %s, named %t, shadow %t %s", in.Protocol.Layer(), got.Effect, got.Origin != "", got.Shadowed, got.Shadow.Effect)]++
			decides, shadow := evaluation.Locate(ps, in, options)(request)
			if (decides != "") != (got.Origin != "") || (shadow != "") != (got.Shadow.Origin != "") {
				r.Fatalf("%s %+v: decided by %q and %q, placed at %q and %q", in, request, got.Origin, got.Shadow.Origin, decides, shadow)
			}
		}
	})
	seen.Want(t,
		"L7 allow, named false, shadow false deny", "L7 allow, named true, shadow false deny", "L7 deny, named true, shadow false deny", "L7 deny, named false, shadow false deny",
		"L4 allow, named true, shadow false deny", "L4 deny, named true, shadow false deny", "L7 allow, named false, shadow true deny",
	)
}

// TestOrderOfPoliciesDoesNotMatter shuffles the input.
func TestOrderOfPoliciesDoesNotMatter(t *testing.T) {
	t.Parallel()
	property.Check(t, func(r *rapid.T) {
		ps := parseAll(t, drawPolicies(r))
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 0))
		for _, in := range inbounds() {
			want := authorization.Lower(authorization.Select(ps, in, options), in, options)
			random.Shuffle(len(ps), func(i, j int) { ps[i], ps[j] = ps[j], ps[i] })
			if got := authorization.Lower(authorization.Select(ps, in, options), in, options); !got.Equal(want) {
				r.Fatalf("want\n%s\ngot\n%s", want, got)
			}
		}
	})
}

// many returns a namespace of a thousand policies. A hundred of them select the backend, with
// two rules each.
func many() string {
	var b strings.Builder
	for i := range 1000 {
		app := "other"
		if i%10 == 0 {
			app = "backend"
		}
		b.WriteString(one(fmt.Sprintf("p%04d", i), fmt.Sprintf(
			`selector: {matchLabels: {app: %s}}, rules: [{from: [{source: {principals: [td/ns/n%d/sa/a, "td/ns/n%d/sa/b*"]}}], to: [{operation: {methods: [GET], paths: [/p%d, /q%d/*]}}]}, {from: [{source: {namespaces: [n%d]}}]}]`, app, i, i, i, i, i)))
	}
	return b.String()
}

// BenchmarkParseSelectAndCompile makes the filters of one inbound of a thousand policies.
func BenchmarkParseSelectAndCompile(b *testing.B) {
	docs := documents(b, many())
	in := inbounds()[0]
	b.ReportAllocs()
	for b.Loop() {
		ps, err := authorization.ParseAll(docs)
		if err != nil {
			b.Fatal(err)
		}
		p := authorization.Lower(authorization.Select(ps, in, options), in, options)
		if len(p.Gates[0].Rules) != 200 {
			b.Fatalf("%d rules", len(p.Gates[0].Rules))
		}
		if _, err := xds.Compile(p); err != nil {
			b.Fatal(err)
		}
	}
}

// TestPrograms lowers the policies of each archive for each inbound and compares selection,
// program and warnings with the archive's other files.
func TestPrograms(t *testing.T) {
	t.Parallel()
	golden.Archives(t, "programs/*.txtar", func(t *testing.T, input string) (got []txtar.File) {
		add := func(name, text string) { got = append(got, txtar.File{Name: name, Data: []byte(text)}) }
		ps := parseAll(t, input)
		for _, in := range inbounds() {
			sel := authorization.Select(ps, in, options)
			text := authorization.Lower(sel, in, options).String()
			for _, ignored := range sel.Ignored {
				text += fmt.Sprintf("ignored: %s\n", ignored)
			}
			add(fmt.Sprintf("%s (%s)", in, in.Protocol), text)
		}
		var warnings strings.Builder
		for _, w := range authorization.Lint(ps, inbounds(), options, func(policy.Inbound) (none token.Demand) { return }) {
			fmt.Fprintf(&warnings, "warning: %s\n", w)
		}
		add("lint", warnings.String())
		return got
	})
}
