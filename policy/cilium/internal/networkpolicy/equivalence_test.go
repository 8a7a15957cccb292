package networkpolicy_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/internal/dialecttest"
	"github.com/meshproof/meshproof/internal/golden"
	"github.com/meshproof/meshproof/internal/property"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/cilium/internal/evaluation"
	"github.com/meshproof/meshproof/policy/cilium/internal/networkpolicy"
	"github.com/meshproof/meshproof/xds"
)

// The values that are drawn are few and alike, so that rules often match, overlap or just fail.
var (
	selectors = []string{
		"{}", "{matchLabels: {app: backend}}", `{matchLabels: {"k8s:app": frontend}}`, `{matchLabels: {"any:app": backend, tier: data}}`, `{matchLabels: {"reserved:host": ""}}`,
		`{matchLabels: {"k8s:io.kubernetes.pod.namespace": finance}}`, `{matchLabels: {io.kubernetes.pod.namespace: default, app: frontend}}`, `{matchLabels: {"k8s:io.cilium.k8s.namespace.labels.team": b}}`,
		`{matchLabels: {io.cilium.k8s.namespace.labels.kubernetes.io/metadata.name: finance}}`, "{matchLabels: {io.cilium.k8s.policy.serviceaccount: frontend}}", "{matchLabels: {io.cilium.k8s.policy.cluster: default}}",
		"{matchExpressions: [{key: app, operator: NotIn, values: [backend]}]}", "{matchExpressions: [{key: tier, operator: Exists}]}", "{matchExpressions: [{key: tier, operator: DoesNotExist}, {key: app, operator: In, values: [backend, frontend]}]}",
		`{matchExpressions: [{key: "k8s:io.kubernetes.pod.namespace", operator: DoesNotExist}]}`, `{matchExpressions: [{key: "k8s:io.kubernetes.pod.namespace", operator: NotIn, values: [default]}]}`,
		`{matchExpressions: [{key: io.cilium.k8s.policy.cluster, operator: NotIn, values: [west]}, {key: "any:io.kubernetes.pod.namespace", operator: DoesNotExist}]}`, `{matchExpressions: [{key: "reserved:host", operator: DoesNotExist}]}`,
	}
	someEntities = []string{"all", "world", "cluster", "cluster-mesh", "host", "none", "kube-apiserver"}
	someSets     = []string{"{cidr: 10.0.0.0/8, except: [10.0.0.0/24]}", "{cidr: 0.0.0.0/0}", `{cidr: "fd00::/8", except: ["fd12::/16"]}`}
	somePorts    = []string{`{port: "8080"}`, `{port: "8080", protocol: TCP}`, `{port: "8080", protocol: UDP}`, `{port: http-port}`, `{port: HTTP-PORT, protocol: ANY}`, `{port: "5000", endPort: 9000, protocol: TCP}`, `{port: "0"}`, `{port: "9090"}`}
	httpPorts    = []string{`{port: "8080", protocol: TCP}`, `{port: http-port, protocol: TCP}`, `{port: "5000", endPort: 9100, protocol: TCP}`}
	someHTTP     = []string{
		"{}", "{path: /a}", `{path: "/a.*", method: GET}`, "{method: GET|HEAD}", `{host: "a\\.example(:8080)?"}`, `{path: "/a\\?x=.*"}`, "{headers: [X-Role]}", `{headers: ["X-Role: a"]}`, `{headers: ["X-Role a"], method: PUT}`,
		"{headerMatches: [{name: x-role, value: b}]}", "{headerMatches: [{name: X-Role}, {name: ':path', value: /a}]}", `{headers: ["Origin: a"]}`,
	}
)

func drawList(name string, from []string, least, most int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return "[" + strings.Join(rapid.SliceOfN(rapid.SampledFrom(from), least, most).Draw(t, name), ", ") + "]"
	})
}

func drawIngress(deny bool) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		var parts []string
		switch rapid.IntRange(0, 5).Draw(t, "peers") {
		case 0:
		case 1, 2:
			parts = append(parts, "fromEndpoints: "+drawList("selectors", selectors, 0, 2).Draw(t, "fromEndpoints"))
		case 3:
			parts = append(parts, "fromEntities: "+drawList("entities", someEntities, 0, 2).Draw(t, "fromEntities"))
		case 4:
			parts = append(parts, "fromCIDR: "+drawList("blocks", []string{`"10.0.0.0/8"`, `"10.0.0.1/32"`, `"0.0.0.0/0"`, `"fd00::/8"`, `"10.0.0.1/31"`}, 0, 2).Draw(t, "fromCIDR"))
		case 5:
			parts = append(parts, "fromCIDRSet: "+drawList("sets", someSets, 0, 2).Draw(t, "fromCIDRSet"))
		}
		switch rapid.IntRange(0, 3).Draw(t, "ports") {
		case 0:
		case 1:
			parts = append(parts, "toPorts: [{ports: "+drawList("ports", somePorts, 1, 2).Draw(t, "toPorts")+"}]")
		case 2, 3:
			if deny {
				break
			}
			entries := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
				return "{ports: " + drawList("ports", httpPorts, 1, 2).Draw(t, "ports") + ", rules: {http: " + drawList("http", someHTTP, 0, 2).Draw(t, "http") + "}}"
			}), 1, 2).Draw(t, "entries")
			parts = append(parts, "toPorts: ["+strings.Join(entries, ", ")+"]")
		}
		if !deny && rapid.IntRange(0, 5).Draw(t, "authentication") == 0 {
			parts = append(parts, "authentication: {mode: "+rapid.SampledFrom([]string{"disabled", "required", "test-always-fail"}).Draw(t, "mode")+"}")
		}
		return "{" + strings.Join(parts, ", ") + "}"
	})
}

func drawSpec(t *rapid.T) string {
	parts := []string{"endpointSelector: " + rapid.SampledFrom(append([]string{"{}", "{}", "{matchLabels: {app: backend}}", "{matchLabels: {app: backend}}"}, selectors...)).Draw(t, "endpointSelector")}
	which := rapid.IntRange(0, 3).Draw(t, "lists")
	if which != 1 {
		parts = append(parts, "ingress: ["+strings.Join(rapid.SliceOfN(drawIngress(false), 1, 3).Draw(t, "ingress"), ", ")+"]")
	}
	if which == 1 || which == 2 {
		parts = append(parts, "ingressDeny: ["+strings.Join(rapid.SliceOfN(drawIngress(true), 1, 2).Draw(t, "ingressDeny"), ", ")+"]")
	}
	if rapid.IntRange(0, 3).Draw(t, "default deny") == 0 {
		parts = append(parts, "enableDefaultDeny: {ingress: "+rapid.SampledFrom([]string{"true", "false"}).Draw(t, "ingress")+"}")
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func drawPolicies(t *rapid.T) string {
	var b strings.Builder
	for i := range rapid.IntRange(0, 4).Draw(t, "policies") {
		kind, head := "CiliumNetworkPolicy", fmt.Sprintf("name: p%s%d", strings.Repeat("-", i%2), i)
		if rapid.IntRange(0, 3).Draw(t, "clusterwide") == 0 {
			kind = "CiliumClusterwideNetworkPolicy"
		} else if namespace := rapid.SampledFrom([]string{"", "default", "finance"}).Draw(t, "namespace"); namespace != "" {
			head += ", namespace: " + namespace
		}
		body := "spec: " + drawSpec(t)
		if rapid.IntRange(0, 4).Draw(t, "specs") == 0 {
			body = "specs: [" + drawSpec(t) + ", " + drawSpec(t) + "]"
		}
		b.WriteString(one(kind, head, body))
	}
	return b.String()
}

func drawRequest(t *rapid.T, in policy.Inbound) policy.Request {
	names := []string{"spiffe://td/backend", "spiffe://td/frontend", "spiffe://td/ledger", "spiffe://td/liar", "spiffe://td/unknown", "spiffe://td/frontend-evil"}
	r := policy.Request{
		URIs:   rapid.SliceOfN(rapid.SampledFrom(names), 0, 2).Draw(t, "uris"),
		DNS:    rapid.SliceOfN(rapid.SampledFrom(names), 0, 1).Draw(t, "dns"),
		Port:   in.Port,
		UTF8:   rapid.Bool().Draw(t, "utf-8"),
		Source: netip.MustParseAddr(rapid.SampledFrom([]string{"10.0.0.1", "10.1.2.3", "11.0.0.1", "::1", "fd12::1"}).Draw(t, "source")),
	}
	if in.Protocol != policy.TCP {
		r.Method = rapid.SampledFrom([]string{"GET", "HEAD", "PUT", "get"}).Draw(t, "method")
		r.Path = rapid.SampledFrom([]string{"/", "/a", "/a?x=/b", "/a/b", "/ab", "/a\xff", "/a?"}).Draw(t, "path")
		r.Host = rapid.SampledFrom([]string{"a.example", "A.example", "a.example:8080", "axexample", ""}).Draw(t, "host")
		r.JoinsLines = rapid.Bool().Draw(t, "joins lines")
		for _, name := range []string{"x-role", "origin"} {
			for _, line := range rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "", "a,b"}), 0, 2).Draw(t, name) {
				r.Headers = append(r.Headers, policy.Header{Name: name, Value: line})
			}
		}
	}
	return r
}

func drawOptions(t *rapid.T) networkpolicy.Options {
	opts := options()
	opts.PolicyEnforcement = rapid.SampledFrom([]string{"default", "default", "default", "always", "never"}).Draw(t, "enforcement")
	opts.PolicyAuditMode = rapid.IntRange(0, 3).Draw(t, "audit") == 0
	return opts
}

// TestEvaluateAgreesWithLower compares two independent readings of the same text,
// selection included.
func TestEvaluateAgreesWithLower(t *testing.T) {
	t.Parallel()
	seen := dialecttest.Outcomes{}
	property.Check(t, func(r *rapid.T) {
		yaml := drawPolicies(r)
		ps, opts := parseAll(t, yaml), drawOptions(r)
		for _, in := range inbounds() {
			if networkpolicy.Check(ps, in, opts) != nil {
				continue
			}
			program := networkpolicy.Lower(networkpolicy.Select(ps, in, opts), in, opts)
			if err := program.Check(); err != nil {
				r.Fatal(err)
			}
			evaluate := evaluation.ForInbound(ps, in, opts)
			for range 5 {
				request := drawRequest(r, in)
				got := dialecttest.Agree(r, yaml, program, evaluate, in, request)
				seen[fmt.Sprintf("%s %s, named %t, shadow %t", got.Layer, got.Effect, got.Origin != "", got.Shadowed)]++
			}
		}
	})
	seen.Want(t,
		"L4 allow, named true, shadow false", "L4 allow, named false, shadow false", "L4 deny, named true, shadow false", "L4 deny, named false, shadow false",
		"L7 allow, named true, shadow false", "L7 deny, named false, shadow false", "L7 deny, named false, shadow true", "L7 allow, named true, shadow true", "L4 allow, named false, shadow true",
	)
}

// TestLinesThatTheCodecJoins has headers that the codec of Envoy joins, and leaves empty lines out
// of: both opinions read them as one text.
func TestLinesThatTheCodecJoins(t *testing.T) {
	t.Parallel()
	in, opts := inbounds()[0], options()
	ps := parseAll(t, one("CiliumNetworkPolicy", "name: p", `spec: {endpointSelector: {}, ingress: [{toPorts: [{ports: [{port: "8080", protocol: TCP}], rules: {http: [{headers: ["Origin: a"]}]}}]}]}`))
	program := networkpolicy.Lower(networkpolicy.Select(ps, in, opts), in, opts)
	for name, row := range map[string]struct {
		lines []string
		want  policy.Effect
	}{
		"one line":                    {[]string{"a"}, policy.Allow},
		"an empty line beside":        {[]string{"", "a"}, policy.Allow},
		"two lines":                   {[]string{"a", "b"}, policy.Deny},
		"two lines, and one is empty": {[]string{"a", "", "b"}, policy.Deny},
		"an empty line alone":         {[]string{""}, policy.Deny},
	} {
		r := policy.Request{Method: "GET", Path: "/", Port: in.Port}
		for _, line := range row.lines {
			r.Headers = append(r.Headers, policy.Header{Name: "origin", Value: line})
		}
		if plain, oracle := evaluation.ForInbound(ps, in, opts)(r), policy.Decide(program, r); plain != oracle || plain.Effect != row.want {
			t.Errorf("%s: the text says %+v, the program %+v, want %s", name, plain, oracle, row.want)
		}
	}
}

// TestOrderOfPoliciesDoesNotMatter shuffles the input.
func TestOrderOfPoliciesDoesNotMatter(t *testing.T) {
	t.Parallel()
	property.Check(t, func(r *rapid.T) {
		ps, opts := parseAll(t, drawPolicies(r)), drawOptions(r)
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 0))
		for _, in := range inbounds() {
			want := networkpolicy.Lower(networkpolicy.Select(ps, in, opts), in, opts)
			random.Shuffle(len(ps), func(i, j int) { ps[i], ps[j] = ps[j], ps[i] })
			if got := networkpolicy.Lower(networkpolicy.Select(ps, in, opts), in, opts); got.String() != want.String() {
				r.Fatalf("want\n%s\ngot\n%s", want, got)
			}
		}
	})
}

// many returns a namespace of 5,000 policies. One of ten selects the backend.
func many() string {
	var b strings.Builder
	for i := range 5000 {
		app := "other"
		if i%10 == 0 {
			app = "backend"
		}
		b.WriteString(one("CiliumNetworkPolicy", fmt.Sprintf("name: p%04d", i), fmt.Sprintf(
			`spec: {endpointSelector: {matchLabels: {app: %s}}, ingress: [{fromEndpoints: [{matchLabels: {app: frontend, "k8s:io.kubernetes.pod.namespace": default}}], toPorts: [{ports: [{port: "8080", protocol: TCP}], rules: {http: [{method: GET, path: "/p%d/.*"}]}}]}]}`, app, i)))
	}
	return b.String()
}

// BenchmarkSelectAndCompile5000 takes the policies to the filters of one inbound.
func BenchmarkSelectAndCompile5000(b *testing.B) {
	ps, in, opts := parseAll(b, many()), inbounds()[0], options()
	b.ReportAllocs()
	for b.Loop() {
		p := networkpolicy.Lower(networkpolicy.Select(ps, in, opts), in, opts)
		if len(p.Gates[0].Rules) != 500 {
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
		ps, opts := parseAll(t, input), options()
		for _, in := range inbounds() {
			sel := networkpolicy.Select(ps, in, opts)
			text := networkpolicy.Lower(sel, in, opts).String()
			for _, ignored := range sel.Ignored {
				text += fmt.Sprintf("ignored: %s\n", ignored)
			}
			if err := networkpolicy.Check(ps, in, opts); err != nil {
				text += "refused: " + err.Error() + "\n"
			}
			add(fmt.Sprintf("%s (%s)", in, in.Protocol), text)
		}
		var warnings strings.Builder
		for _, w := range networkpolicy.Lint(ps, inbounds(), opts) {
			fmt.Fprintf(&warnings, "warning: %s\n", w)
		}
		add("lint", warnings.String())
		return got
	})
}
