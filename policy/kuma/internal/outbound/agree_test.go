package outbound_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/internal/property"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/outbound"
	"github.com/meshproof/meshproof/policy/kuma/internal/routeevaluation"
	"github.com/meshproof/meshproof/policy/manifest"
)

// one draws one of the texts.
func one(t *rapid.T, label string, of ...string) string { return rapid.SampledFrom(of).Draw(t, label) }

// drawHead draws the head of a policy: a kind, a name, and all that decides about its strength.
func drawHead(t *rapid.T, kind string, i int) string {
	// The names of routes are known to timeouts; those of timeouts do not follow their order.
	name := fmt.Sprintf("r%d", i)
	if kind == "MeshTimeout" {
		name = fmt.Sprintf("%s%d", one(t, "name", "a", "b", "c"), i)
	}
	labels := one(t, "labels", "", "", "", "", "kuma.io/origin: zone, kuma.io/zone: east, ", "kuma.io/origin: global, ", "kuma.io/effect: shadow, ", "kuma.io/policy-role: consumer, ", "team: x, ")
	if rapid.IntRange(0, 3).Draw(t, "universal") == 0 {
		return fmt.Sprintf("type: %s\nname: %s\nlabels: {%s}\n", kind, name, labels)
	}
	return fmt.Sprintf("apiVersion: kuma.io/v1alpha1\nkind: %s\nmetadata: {name: %s, namespace: %s, labels: {%s}}\n", kind, name, one(t, "namespace", "ns", "ns", "other", "kuma-system"), labels)
}

func drawTarget(t *rapid.T) string {
	return one(t, "target", "{kind: Mesh}", "{}", "{}", "{}", "{kind: Dataplane, labels: {app: web}}", "{kind: Dataplane, name: web}", "{kind: MeshSubset, tags: {group: a}}", "{kind: MeshSubset, tags: {group: b}}")
}

func drawService(t *rapid.T) string {
	return one(t, "service", "{kind: MeshService, name: s0, namespace: ns}", "{kind: MeshService, name: s0, namespace: ns}", "{kind: MeshService, name: s0, namespace: ns}", "{kind: MeshService, name: s0}", "{kind: MeshService, name: s1, namespace: ns}",
		"{kind: MeshService, name: s0, namespace: ns, sectionName: main}", "{kind: MeshService, labels: {team: x}}", "{kind: MeshService, name: gone, namespace: ns}", "{kind: MeshMultiZoneService, name: z0}", "{kind: MeshMultiZoneService, name: z0, sectionName: \"80\"}")
}

func drawPair(t *rapid.T) string {
	return "{name: " + one(t, "pair", "x, value: a", "x, type: Present", "x, type: Absent", "y, type: Prefix, value: a", "x, type: RegularExpression, value: a.*") + "}"
}

func drawMatch(t *rapid.T) string {
	var parts []string
	if rapid.Bool().Draw(t, "path") {
		parts = append(parts, "path: "+one(t, "path", "{type: Exact, value: /a}", "{type: PathPrefix, value: /a}", "{type: PathPrefix, value: /}", "{type: PathPrefix, value: /a/b}", `{type: RegularExpression, value: "/a.*"}`))
	}
	if rapid.Bool().Draw(t, "method") {
		parts = append(parts, "method: "+one(t, "method", "GET", "POST"))
	}
	if rapid.Bool().Draw(t, "header") {
		parts = append(parts, "headers: ["+drawPair(t)+"]")
	}
	if rapid.Bool().Draw(t, "query") {
		parts = append(parts, "queryParams: [{name: q, type: Exact, value: "+one(t, "value", "a", "b")+"}]")
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func drawTimes(t *rapid.T, names ...string) string {
	var parts []string
	for _, name := range names {
		if rapid.Bool().Draw(t, name) {
			parts = append(parts, fmt.Sprintf("%s: %dms", name, rapid.IntRange(1, 9).Draw(t, "ms")))
		}
	}
	if len(parts) == 0 || strings.HasPrefix(parts[0], "requestHeadersTimeout") {
		// Kuma refuses a time of the headers alone.
		parts = append(parts, names[0]+": 10ms")
	}
	return strings.Join(parts, ", ")
}

func drawRules(t *rapid.T, kind string) string {
	var rules []string
	for range rapid.IntRange(1, 2).Draw(t, "rules") {
		conf := one(t, "conf", "{}", "{}", "{backendRefs: []}", "{backendRefs: [{kind: MeshService, name: s1, namespace: ns}, {kind: MeshService, name: s0, namespace: ns, port: 80, weight: 3}]}",
			"{backendRefs: [{kind: MeshService, name: gone}]}", "{backendRefs: [{kind: MeshService, labels: {team: x}, port: 81}, {kind: MeshService, name: gone}]}",
			"{backendRefs: [{kind: MeshExternalService, name: e0, namespace: ns}, {kind: MeshExternalService, name: e0, namespace: ns, port: 9, weight: 2}]}")
		if kind == "MeshTCPRoute" {
			conf = strings.Replace(conf, "{backendRefs: []}", "{}", 1)
			return "{default: " + strings.Replace(conf, "{}", "{backendRefs: [{kind: MeshService, name: s1, namespace: ns}]}", 1) + "}"
		}
		rules = append(rules, "{matches: ["+strings.Join(rapid.SliceOfN(rapid.Custom(drawMatch), 1, 2).Draw(t, "matches"), ", ")+"], default: "+conf+"}")
	}
	return strings.Join(rules, ", ")
}

func drawMesh(t *rapid.T) string {
	var b strings.Builder
	for i := rapid.IntRange(0, 1).Draw(t, "a service without a zone"); i < 2; i++ {
		fmt.Fprintf(&b, "---\napiVersion: kuma.io/v1alpha1\nkind: MeshService\nmetadata: {name: s%d, namespace: ns, labels: {team: x}}\nspec: {selector: {dataplaneTags: {app: s}}, ports: [{port: 80, name: main, targetPort: 80, appProtocol: http}, {port: 81, targetPort: 81, appProtocol: tcp}]}\n", i)
	}
	for i, zone := range rapid.SliceOfDistinct(rapid.SampledFrom([]string{"east", "west", "north"}), rapid.ID[string]).Draw(t, "zones") {
		fmt.Fprintf(&b, "---\n{apiVersion: kuma.io/v1alpha1, kind: MeshService, metadata: {name: s0-%d, namespace: ns, annotations: {kuma.io/display-name: s0}, labels: {kuma.io/zone: %s}}, spec: {selector: {dataplaneTags: {app: s}}, ports: [{port: 80, name: main, targetPort: 80, appProtocol: http}]}}\n", i, zone)
	}
	b.WriteString("---\n{apiVersion: kuma.io/v1alpha1, kind: MeshExternalService, metadata: {name: e0, namespace: ns}, spec: {match: {port: 443, protocol: http}}}\n")
	b.WriteString("---\n{type: MeshMultiZoneService, name: z0, spec: {selector: {meshService: {matchLabels: {team: x}}}, ports: [{port: 80, appProtocol: http}]}}\n")
	for i := range rapid.IntRange(0, 3).Draw(t, "routes") {
		kind := "MeshHTTPRoute"
		if rapid.IntRange(0, 3).Draw(t, "tcp") == 0 {
			kind = "MeshTCPRoute"
		}
		var items []string
		for range rapid.IntRange(1, 2).Draw(t, "items") {
			items = append(items, "{targetRef: "+drawService(t)+", rules: ["+drawRules(t, kind)+"]}")
		}
		fmt.Fprintf(&b, "---\n%sspec: {targetRef: %s, to: [%s]}\n", drawHead(t, kind, i), drawTarget(t), strings.Join(items, ", "))
	}
	for i := range rapid.IntRange(0, 6).Draw(t, "timeouts") {
		var items []string
		for range rapid.IntRange(1, 2).Draw(t, "items") {
			switch rapid.IntRange(0, 3).Draw(t, "item") {
			case 0:
				items = append(items, "{targetRef: {kind: Mesh}, default: {http: {"+drawTimes(t, "requestTimeout", "streamIdleTimeout", "requestHeadersTimeout")+"}}}")
			case 1:
				items = append(items, "{targetRef: "+drawService(t)+", default: {idleTimeout: 11ms, http: {"+drawTimes(t, "requestTimeout", "streamIdleTimeout", "requestHeadersTimeout")+"}}}")
			case 2:
				items = append(items, "{targetRef: {kind: MeshHTTPRoute, "+one(t, "route", "name: r0", "name: r0, namespace: ns", "name: r1, namespace: ns", "name: r1", "labels: {team: x}")+"}, default: {http: {"+drawTimes(t, "requestTimeout", "streamIdleTimeout")+"}}}")
			default:
				items = append(items, "{targetRef: {kind: MeshTCPRoute, "+one(t, "route", "name: r0", "name: r1, namespace: ns", "labels: {team: x}")+"}, default: {idleTimeout: 12ms}}")
			}
		}
		fmt.Fprintf(&b, "---\n%sspec: {targetRef: %s, to: [%s]}\n", drawHead(t, "MeshTimeout", i), drawTarget(t), strings.Join(items, ", "))
	}
	return b.String()
}

func drawProxy(t *rapid.T) policy.Inbound {
	return policy.Inbound{Tags: map[string]string{"group": one(t, "group", "a", "b")}, Workload: policy.Workload{
		Name: one(t, "workload", "web", "job"), Namespace: one(t, "proxy namespace", "ns", "other"), Zone: one(t, "zone", "", "east", "west"), Origin: one(t, "origin", "", "zone"),
		Labels: map[string]string{"app": one(t, "app", "web", "job")},
	}}
}

func drawRequest(t *rapid.T) policy.Request {
	r := policy.Request{Method: one(t, "method", "GET", "POST", "PUT"), Path: one(t, "path", "/", "/a", "/a/b", "/ab", "/a/b/c", "/b") + one(t, "query", "", "?q=a", "?q=b&q=a", "?a=q")}
	for range rapid.IntRange(0, 2).Draw(t, "headers") {
		r.Headers = append(r.Headers, policy.Header{Name: one(t, "header name", "x", "y"), Value: one(t, "header value", "a", "ab", "b")})
	}
	r.JoinsLines = rapid.Bool().Draw(t, "joins lines")
	return r
}

// The program of a proxy and the second opinion decide alike about drawn meshes and requests.
func TestOpinionsAgree(t *testing.T) {
	t.Parallel()
	property.Check(t, func(t *rapid.T) {
		// One mesh in some hundreds has two policies that differ in one place of their strength.
		for range 10 {
			agree(t)
		}
	})
}

func agree(t *rapid.T) {
	text := drawMesh(t)
	docs, err := manifest.Parse("mesh.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	design := rapid.SampledFrom([]outbound.Design{outbound.Seed, outbound.Released}).Draw(t, "design")
	r, err := outbound.Parse(docs, "kuma-system", design)
	if err != nil {
		return // a policy is no producer's and no consumer's
	}
	second := routeevaluation.Text{Released: design == outbound.Released, SystemNamespace: "kuma-system"}
	second.Destinations, second.Routes, second.Timeouts = r.Parsed()
	proxy := drawProxy(t)
	program := r.ProxyOf(proxy)
	for range 6 {
		request := drawRequest(t)
		for _, o := range program.Outbounds {
			d := o.Decide(request)
			var limits [routing.Bounds]time.Duration
			for bound := range routing.Bounds {
				limits[bound] = d.Limits[bound].Time
			}
			got := routeevaluation.Outcome{Route: d.Route, Backends: d.Backends, Limits: limits}
			want, ok := second.Evaluate(proxy, o.Name, request)
			if !ok {
				t.Fatalf("the second opinion has no outbound %s", o.Name)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%s, %+v (-second opinion +program):\n%s\n%s", o.Name, request, diff, text)
			}
		}
	}
}
