package authorization_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/spiffe/go-spiffe/v2/spiffeid"
	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/internal/dialecttest"
	"github.com/meshproof/meshproof/internal/golden"
	"github.com/meshproof/meshproof/internal/property"
	"github.com/meshproof/meshproof/internal/warning"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/linkerd/internal/authorization"
	"github.com/meshproof/meshproof/policy/linkerd/internal/evaluation"
	"github.com/meshproof/meshproof/policy/manifest"
	"github.com/meshproof/meshproof/xds"
)

func parse(t testing.TB, yaml string) authorization.Set {
	t.Helper()
	s, err := authorization.Parse(dialecttest.Documents(t, yaml))
	if err != nil {
		t.Fatalf("%v:\n%s", err, yaml)
	}
	return s
}

func options(t testing.TB) authorization.Options {
	t.Helper()
	o, err := authorization.ReadOptions(language.Options{TrustDomain: spiffeid.RequireTrustDomainFromString("td")})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// head is the beginning of an object, in the order of its fields.
func head(version, kind, name, namespace string) string {
	return "---\n{apiVersion: " + version + ", kind: " + kind + ", metadata: {name: " + name + ", namespace: " + namespace + "}, spec: "
}

var (
	namespaces = []string{"default", "default", "default", "finance"}
	names      = []string{
		"'*'", "'*.finance.serviceaccount.identity.linkerd.cluster.local'", "'*.identity.linkerd.cluster.local'", "'*.local'", "'*.cal'", "web.default.serviceaccount.identity.linkerd.cluster.local",
		"a.b.default.serviceaccount.identity.linkerd.cluster.local", "'*.b.default.serviceaccount.identity.linkerd.cluster.local'", "default.serviceaccount.identity.linkerd.cluster.local", "web.elsewhere",
		"spiffe://td/ns/default/sa/web", "spiffe://other/ns/default/sa/web", "web.default.serviceaccount.identity.other.cluster.local",
	}
	networks  = []string{"{cidr: 10.0.0.0/8, except: [10.0.0.0/24]}", "{cidr: 0.0.0.0/0}", `{cidr: "fd00::/8", except: ["fd12::/16"]}`, "{cidr: 10.0.0.1}", "{cidr: 10.0.0.0/8, except: [10.0.0.1]}"}
	accounts  = []string{"{kind: ServiceAccount, name: web}", "{kind: ServiceAccount, name: a.b, namespace: default}", "{kind: Namespace, name: finance}", "{group: core, kind: serviceaccount, name: web, namespace: finance}"}
	pathMatch = []string{
		"{type: Exact, value: /a}", "{value: /a}", "{type: PathPrefix, value: /a/}", "{value: /}", "{}", "{type: PathPrefix, value: /a/b}", "{type: RegularExpression, value: '/[ab]+'}",
		"{type: RegularExpression, value: '^/(a|ab)/?b?$'}", "{type: Exact, value: /}", "{type: Exact, value: /a/b}",
	}
	headerMatch = []string{"{name: X-Role, value: a}", "{name: X-Role, type: RegularExpression, value: '[ab]'}", "{name: Origin, value: a}"}
	queryMatch  = []string{"{name: id, value: '1'}", "{name: 'a b', value: ''}", "{name: id, value: a=b}"}
	hosts       = []string{"a.example", "'*.example'", "'*.a.example'", "b.example"}
)

func sample(t *rapid.T, from []string, most int) string {
	return "[" + strings.Join(rapid.SliceOfNDistinct(rapid.SampledFrom(from), 1, most, rapid.ID).Draw(t, "list"), ", ") + "]"
}

func drawServer(t *rapid.T, i int) string {
	namespace := rapid.SampledFrom(namespaces).Draw(t, "namespace")
	spec := "podSelector: " + rapid.SampledFrom([]string{"{}", "{matchLabels: {app: backend}}", "{matchExpressions: [{key: app, operator: In, values: [backend, frontend]}]}", "{matchExpressions: [{key: app, operator: NotIn, values: [backend]}]}"}).Draw(t, "podSelector") +
		", port: " + rapid.SampledFrom([]string{"8080", "http-port", "5432", "9090", "tcp-port"}).Draw(t, "port")
	if says := rapid.SampledFrom([]string{"", "", "", "unknown", "HTTP/1", "HTTP/2", "gRPC", "opaque", "TLS"}).Draw(t, "proxyProtocol"); says != "" {
		spec += ", proxyProtocol: " + says
	}
	if access := rapid.SampledFrom([]string{"", "", "deny", "audit", "audit", "all-authenticated", "cluster-unauthenticated", "cluster-authenticated"}).Draw(t, "accessPolicy"); access != "" {
		spec += ", accessPolicy: " + access
	}
	return fmt.Sprintf("---\n{apiVersion: policy.linkerd.io/v1beta3, kind: Server, metadata: {name: s%d, namespace: %s, labels: {tier: n%d}}, spec: {%s}}\n", i, namespace, i%2, spec)
}

func drawGrant(t *rapid.T, i int) string {
	client := rapid.SampledFrom([]string{"unauthenticated: true", "meshTLS: {unauthenticatedTLS: true}", "meshTLS: {identities: " + sample(t, names, 2) + "}", "meshTLS: {serviceAccounts: [{name: web}, {name: a.b, namespace: default}]}"}).Draw(t, "client")
	if rapid.Bool().Draw(t, "has networks") {
		client += ", networks: " + sample(t, networks, 2)
	}
	server := rapid.SampledFrom([]string{"{name: s0}", "{name: s1}", "{selector: {matchLabels: {tier: n0}}}", "{selector: {}}"}).Draw(t, "server")
	return head("policy.linkerd.io/v1beta1", "ServerAuthorization", fmt.Sprint("g", i), rapid.SampledFrom(namespaces).Draw(t, "namespace")) + "{server: " + server + ", client: {" + client + "}}}\n"
}

func drawPolicy(t *rapid.T, i int) string {
	namespace := rapid.SampledFrom(namespaces).Draw(t, "namespace")
	target := rapid.SampledFrom([]string{
		"{group: policy.linkerd.io, kind: Server, name: s0}", "{group: Policy.linkerd.io, kind: server, name: s1}", "{kind: Namespace, name: " + namespace + "}", "{group: policy.linkerd.io, kind: HTTPRoute, name: r0}",
		"{group: gateway.networking.k8s.io, kind: HTTPRoute, name: r1}", "{group: gateway.networking.k8s.io, kind: GRPCRoute, name: r2}", "{group: policy.linkerd.io, kind: HTTPRoute, name: r3}",
	}).Draw(t, "targetRef")
	var refs []string
	if ref := rapid.SampledFrom([]string{"", "{group: policy.linkerd.io, kind: MeshTLSAuthentication, name: m0}", "{group: policy.linkerd.io, kind: MeshTLSAuthentication, name: m1, namespace: default}", "{kind: ServiceAccount, name: web}"}).Draw(t, "identity"); ref != "" {
		refs = append(refs, ref)
	}
	if ref := rapid.SampledFrom([]string{"", "", "{group: policy.linkerd.io, kind: NetworkAuthentication, name: n0}", "{group: policy.linkerd.io, kind: NetworkAuthentication, name: gone}"}).Draw(t, "network"); ref != "" {
		refs = append(refs, ref)
	}
	return head("policy.linkerd.io/v1alpha1", "AuthorizationPolicy", fmt.Sprint("p", i), namespace) + "{targetRef: " + target + ", requiredAuthenticationRefs: [" + strings.Join(refs, ", ") + "]}}\n"
}

func drawRoute(t *rapid.T, i int) string {
	version, kind := "policy.linkerd.io/v1beta3", "HTTPRoute"
	if i == 1 {
		version = "gateway.networking.k8s.io/v1"
	}
	if i == 2 {
		version, kind = "gateway.networking.k8s.io/v1", "GRPCRoute"
	}
	spec := "parentRefs: [{group: policy.linkerd.io, kind: Server, name: " + rapid.SampledFrom([]string{"s0", "s0", "s1"}).Draw(t, "server") + "}]"
	if rapid.IntRange(0, 2).Draw(t, "has hosts") == 0 {
		spec += ", hostnames: " + sample(t, hosts, 2)
	}
	rules := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
		matches := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string { return drawMatch(t, kind) }), 0, 2).Draw(t, "matches")
		return "{matches: [" + strings.Join(matches, ", ") + "]}"
	}), 1, 2).Draw(t, "rules")
	return head(version, kind, fmt.Sprint("r", i), "default") + "{" + spec + ", rules: [" + strings.Join(rules, ", ") + "]}}\n"
}

func drawMatch(t *rapid.T, kind string) string {
	var parts []string
	if kind == "GRPCRoute" {
		parts = append(parts, "method: "+rapid.SampledFrom([]string{"{service: a.S}", "{service: a.S, method: Get}", "{method: Get}"}).Draw(t, "rpc"))
	} else {
		if path := rapid.SampledFrom(append([]string{""}, pathMatch...)).Draw(t, "path"); path != "" {
			parts = append(parts, "path: "+path)
		}
		if method := rapid.SampledFrom([]string{"", "", "GET", "PUT"}).Draw(t, "method"); method != "" {
			parts = append(parts, "method: "+method)
		}
		if rapid.IntRange(0, 3).Draw(t, "has query") == 0 {
			parts = append(parts, "queryParams: ["+rapid.SampledFrom(queryMatch).Draw(t, "query")+"]")
		}
	}
	if rapid.IntRange(0, 3).Draw(t, "has header") == 0 {
		parts = append(parts, "headers: ["+rapid.SampledFrom(headerMatch).Draw(t, "header")+"]")
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func drawSet(t *rapid.T) string {
	var b strings.Builder
	for i := range rapid.IntRange(0, 2).Draw(t, "servers") {
		b.WriteString(drawServer(t, i))
	}
	for i := range rapid.IntRange(0, 2).Draw(t, "grants") {
		b.WriteString(drawGrant(t, i))
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "policies") {
		b.WriteString(drawPolicy(t, i))
	}
	for i := range rapid.IntRange(0, 4).Draw(t, "routes") {
		b.WriteString(drawRoute(t, i))
	}
	for i := range rapid.IntRange(0, 2).Draw(t, "authentications") {
		spec := "identities: " + sample(t, names, 2)
		if rapid.Bool().Draw(t, "refs") {
			spec = "identityRefs: " + sample(t, accounts, 2)
		}
		b.WriteString(head("policy.linkerd.io/v1alpha1", "MeshTLSAuthentication", fmt.Sprint("m", i), "default") + "{" + spec + "}}\n")
	}
	b.WriteString(head("policy.linkerd.io/v1alpha1", "NetworkAuthentication", "n0", "default") + "{networks: " + sample(t, networks, 2) + "}}\n")
	return b.String()
}

func drawRequest(t *rapid.T, in policy.Inbound) policy.Request {
	ids := []string{"spiffe://td/ns/default/sa/web", "spiffe://td/ns/finance/sa/web", "spiffe://td/ns/default/sa/a.b", "spiffe://other/ns/default/sa/web", "spiffe://td/ns/default/sa/web-evil", "spiffe://td/web"}
	r := policy.Request{
		URIs:   rapid.SliceOfN(rapid.SampledFrom(ids), 0, 2).Draw(t, "uris"),
		DNS:    rapid.SliceOfN(rapid.SampledFrom(ids), 0, 1).Draw(t, "dns"),
		Port:   in.Port,
		UTF8:   rapid.Bool().Draw(t, "utf-8"),
		Source: netip.MustParseAddr(rapid.SampledFrom([]string{"10.0.0.1", "10.1.2.3", "11.0.0.1", "127.0.0.1", "::ffff:127.0.0.1", "::1", "fd12::1"}).Draw(t, "source")),
	}
	if in.Protocol == policy.TCP {
		return r
	}
	r.Method = rapid.SampledFrom([]string{"GET", "PUT", "POST", "get"}).Draw(t, "method")
	r.Path = rapid.SampledFrom([]string{"/", "/a", "/a/", "/a/b", "/ab", "/a//", "/b", "/a\xff", "/A", "/a.S/Get", "/a.S/Get/x", "/a.S/", "/a.S", "/x/Get"}).Draw(t, "path") +
		rapid.SampledFrom([]string{"", "", "?id=1", "?x&%69d=%31&y", "?a+b", "?a%20b=", "?id=2&id=1", "?id=a=b", "?"}).Draw(t, "query")
	r.Host = rapid.SampledFrom([]string{"a.example", "A.Example.", "a.example:8080", "x.a.example", "axexample", "b.example:x", ".example"}).Draw(t, "host")
	r.RoutesJoinLines = rapid.Bool().Draw(t, "routes join lines")
	for _, name := range []string{"x-role", "origin"} {
		for _, line := range rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "", "a,b"}), 0, 2).Draw(t, name) {
			r.Headers = append(r.Headers, policy.Header{Name: name, Value: line})
		}
	}
	return r
}

// TestEvaluateAgreesWithLower compares two independent readings of the same text, selection and
// the choice of a route included.
func TestEvaluateAgreesWithLower(t *testing.T) {
	t.Parallel()
	seen := dialecttest.Outcomes{}
	property.Check(t, func(r *rapid.T) {
		yaml := drawSet(r)
		s, opts := parse(t, yaml), options(t)
		opts.LoopbackBypass = rapid.IntRange(0, 3).Draw(r, "loopback") == 0
		opts.DefaultInboundPolicy = rapid.SampledFrom([]string{"all-unauthenticated", "deny", "audit", "cluster-authenticated"}).Draw(r, "default")
		if rapid.Bool().Draw(r, "annotated") {
			opts.Annotations = map[string]map[string]string{"default": {authorization.Annotation: "deny"}, "default/backend": {authorization.Annotation: "all-authenticated"}}
		}
		for _, in := range dialecttest.Inbounds() {
			if authorization.Check(s, in) != nil {
				continue
			}
			program := authorization.Lower(s, in, opts)
			if err := program.Check(); err != nil {
				r.Fatalf("%v\n%s\n%s", err, yaml, program)
			}
			if _, err := xds.Compile(program); err != nil {
				r.Fatalf("%v\n%s\n%s", err, yaml, program)
			}
			evaluate := evaluation.ForInbound(s, in, opts)
			for range 5 {
				request := drawRequest(r, in)
				got := dialecttest.Agree(r, yaml, program, evaluate, in, request)
				seen[fmt.Sprintf("%s %s, named %t, shadow %t", got.Layer, got.Effect, got.Origin != "", got.Shadowed)]++
			}
		}
	})
	seen.Want(t,
		"L4 allow, named true, shadow false", "L4 deny, named false, shadow false", "L4 allow, named true, shadow true", "L7 allow, named true, shadow false", "L7 deny, named false, shadow false",
		"L7 allow, named true, shadow true", "L7 no route, named false, shadow false",
	)
}

// TestPrograms lowers the policies of each archive for each inbound and compares selection,
// program and warnings with the archive's other files.
func TestPrograms(t *testing.T) {
	t.Parallel()
	golden.Archives(t, "programs/*.txtar", func(t *testing.T, input string) (got []txtar.File) {
		add := func(name, text string) { got = append(got, txtar.File{Name: name, Data: []byte(text)}) }
		s, opts := parse(t, input), options(t)
		for _, in := range dialecttest.Inbounds() {
			text := authorization.Lower(s, in, opts).String()
			for _, ignored := range authorization.Ignored(s, in, opts) {
				text += fmt.Sprintf("ignored: %s\n", ignored)
			}
			if err := authorization.Check(s, in); err != nil {
				text += "refused: " + err.Error() + "\n"
			}
			add(fmt.Sprintf("%s (%s)", in, in.Protocol), text)
		}
		var warnings strings.Builder
		for _, w := range authorization.Lint(s, dialecttest.Inbounds(), opts) {
			fmt.Fprintf(&warnings, "warning: %s\n", w)
		}
		add("lint", warnings.String())
		return got
	})
}

// TestRefusals compares the error of each object in the archive with the text in the comment
// above the object.
func TestRefusals(t *testing.T) {
	t.Parallel()
	parse := func(docs []manifest.Document) ([]authorization.Set, error) {
		s, err := authorization.Parse(docs)
		if err != nil {
			return nil, err
		}
		return []authorization.Set{s}, nil
	}
	golden.Refusals(t, "refusals.txtar", dialecttest.Refusal(parse))
}

// BenchmarkSelectAndCompile5000 takes 5,000 policies, of which 500 are about the Server of one inbound,
// to the filters of the inbound.
func BenchmarkSelectAndCompile5000(b *testing.B) {
	var text strings.Builder
	for i := range 10 {
		text.WriteString(head("policy.linkerd.io/v1beta3", "Server", fmt.Sprintf("web%d", i), "shop") + fmt.Sprintf("{podSelector: {matchLabels: {app: web}}, port: %d}}\n", 8080+i))
	}
	for i := range 5000 {
		text.WriteString(head("policy.linkerd.io/v1alpha1", "AuthorizationPolicy", fmt.Sprintf("p%04d", i), "shop") + fmt.Sprintf(
			"{targetRef: {group: policy.linkerd.io, kind: Server, name: web%d}, requiredAuthenticationRefs: [{kind: ServiceAccount, name: a%d, namespace: shop}]}}\n", i%10, i))
	}
	set, own := parse(b, text.String()), options(b)
	in := policy.Inbound{Workload: policy.Workload{Name: "web", Namespace: "shop", Labels: map[string]string{"app": "web"}}, Port: 8080, Protocol: policy.HTTP}
	b.ReportAllocs()
	for b.Loop() {
		p := authorization.Lower(set, in, own)
		if len(p.Gates) != 1 || len(p.Gates[0].Rules) != 500 {
			b.Fatalf("%d gates", len(p.Gates))
		}
		if _, err := xds.Compile(p); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLintManyMatches looks for ties among two routes of 400 matches each.
func BenchmarkLintManyMatches(b *testing.B) {
	var text strings.Builder
	text.WriteString(head("policy.linkerd.io/v1beta3", "Server", "web", "shop") + "{podSelector: {matchLabels: {app: web}}, port: 8080}}\n")
	for _, route := range []string{"a", "b"} {
		text.WriteString(head("policy.linkerd.io/v1beta3", "HTTPRoute", route, "shop") + "{parentRefs: [{group: policy.linkerd.io, kind: Server, name: web}], rules: [{matches: [")
		for i := range 400 {
			fmt.Fprintf(&text, "{path: {type: Exact, value: /%s%d}}, ", route, i)
		}
		text.WriteString("{path: {type: Exact, value: /both}}]}]}}\n")
	}
	set, own := parse(b, text.String()), options(b)
	in := policy.Inbound{Workload: policy.Workload{Name: "web", Namespace: "shop", Labels: map[string]string{"app": "web"}}, Port: 8080, Protocol: policy.HTTP}
	b.ReportAllocs()
	for b.Loop() {
		ties := 0
		for _, w := range authorization.Lint(set, []policy.Inbound{in}, own) {
			if w.Kind == warning.RoutesTie {
				ties++
			}
		}
		if ties != 1 {
			b.Fatalf("%d ties", ties)
		}
	}
}
