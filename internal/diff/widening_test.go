package diff

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/terminal"
	"github.com/meshproof/meshproof/policy"
)

// An attacker changes policies so that a caller gets in, and hides the change behind what the
// other policies say of most workloads. Each row widens access to a workload that can exist.
func TestWideningIsFound(t *testing.T) {
	t.Parallel()
	const (
		oneCaller = "[{spiffeId: {type: Exact, value: spiffe://trust-domain.mesh/a}}]"
		everyone  = `[{spiffeId: {type: Prefix, value: "spiffe://trust-domain.mesh/"}}]`
	)
	mtp := func(name, target, rules string) string {
		return fmt.Sprintf("---\n{type: MeshTrafficPermission, mesh: default, name: %s, spec: {targetRef: %s, %s}}\n", name, target, rules)
	}
	object := func(name, namespace, labels, target, rules string) string {
		return fmt.Sprintf("---\n{apiVersion: kuma.io/v1alpha1, kind: MeshTrafficPermission, metadata: {name: %s, namespace: %s, labels: {%s}}, spec: {targetRef: %s, %s}}\n", name, namespace, labels, target, rules)
	}
	lists := func(name, list string) string { return fmt.Sprintf("default: {%s: %s}", name, list) }
	from := func(target, action string) string {
		return fmt.Sprintf("from: [{targetRef: %s, default: {action: %s}}]", target, action)
	}
	pod := func(name, selector, rules string) string {
		return fmt.Sprintf("---\n{apiVersion: gateway.networking.k8s.io/v1, kind: AuthorizationPolicy, metadata: {name: %s}, spec: {targetRefs: [{kind: Pod, selector: {%s}}], action: ALLOW, enforcementLevel: Network, rules: %s}}\n", name, selector, rules)
	}
	in := func(key, values string) string {
		return fmt.Sprintf("{key: %s, operator: In, values: [%s]}", key, values)
	}
	notIn := func(key, values string) string {
		return fmt.Sprintf("{key: %s, operator: NotIn, values: [%s]}", key, values)
	}
	lacks := func(key string) string { return fmt.Sprintf("{key: %s, operator: DoesNotExist}", key) }
	expressions := func(all ...string) string {
		text := ""
		for _, one := range all {
			text += one + ", "
		}
		return "matchExpressions: [" + text + "]"
	}
	const (
		mesh   = "{kind: Mesh}"
		system = "kuma-system"
		zone   = "kuma.io/origin: zone, kuma.io/zone: "
	)
	denyAll, allowAll, allowOne := lists("deny", everyone), lists("allow", everyone), lists("allow", oneCaller)
	labels := func(text string) string { return "{kind: Dataplane, labels: {" + text + "}}" }
	named := func(name string) string { return "{kind: Dataplane, name: " + name + "}" }
	section := func(name string) string { return "{kind: Dataplane, sectionName: '" + name + "'}" }
	fromAll := from(mesh, "Allow")
	fromNone := from(mesh, "Deny")
	fromOne := from("{kind: MeshService, name: a}", "Allow")
	dataplane := "---\n{type: Dataplane, mesh: default, name: web, labels: {tier: web}, networking: {address: 10.0.0.1, inbound: [{name: in, port: 8080, protocol: %s}]}}\n"

	renamed := func(name, labels string) string {
		return fmt.Sprintf("---\n{type: Dataplane, mesh: default, name: %s, labels: {%s}, networking: {address: 10.0.0.7, inbound: [{name: in, port: 8080, protocol: http}]}}\n", name, labels)
	}
	version := func(value string) string { return "{kind: MeshSubset, tags: {version: '" + value + "'}}" }
	versions := func(first, second string) string {
		return fmt.Sprintf("---\n{type: Dataplane, mesh: default, name: web, networking: {address: 10.0.0.7, inbound: [{port: 8080, tags: {kuma.io/service: web, kuma.io/protocol: http, version: '%s'}}, {port: 8081, tags: {kuma.io/service: web, kuma.io/protocol: http, version: '%s'}}]}}\n", first, second)
	}
	caseOf := func(workload, comment string) string {
		return fmt.Sprintf(`case: c
workloads: [{name: %s, inbounds: [{name: in, port: 8080, protocol: http}]}]
policies:
  - {type: MeshTrafficPermission, name: p, spec: {default: {allow: [{spiffeId: {type: Prefix, value: "spiffe://trust-domain.mesh/"}}]}}}
  %s- {type: MeshTrafficPermission, name: deny, spec: {targetRef: {kind: Dataplane, name: web}, default: {deny: [{spiffeId: {type: Prefix, value: "spiffe://trust-domain.mesh/"}}]}}}
requests: [{from: spiffe://trust-domain.mesh/a, to: %s/in, want: allow}]
`, workload, comment, workload[:3])
	}

	for name, tt := range map[string]struct{ same, old, recent string }{
		// What a workload has where no policy asks for more.
		"a deny of the namespace default":        {object("deny", "default", "", mesh, denyAll), object("p", system, "", mesh, allowOne), object("p", system, "", mesh, allowAll)},
		"a deny of the port 8080":                {mtp("deny", section("8080"), denyAll), mtp("p", mesh, allowOne), mtp("p", mesh, allowAll)},
		"a deny of the workload backend":         {mtp("deny", named("backend"), denyAll), mtp("p", mesh, allowOne), mtp("p", mesh, allowAll)},
		"a deny of the workload made":            {mtp("deny", named("made"), denyAll), mtp("p", labels("app: a"), allowOne), mtp("p", labels("app: a"), allowAll)},
		"a deny of backend by its label":         {mtp("deny", labels("kuma.io/display-name: backend"), denyAll), mtp("p", mesh, allowOne), mtp("p", mesh, allowAll)},
		"a deny of the service backend":          {mtp("deny", "{kind: MeshService, name: backend}", fromNone), mtp("p", mesh, fromOne), mtp("p", mesh, fromAll)},
		"a deny of the service made":             {mtp("deny", "{kind: MeshService, name: made}", fromNone), mtp("p", "{kind: MeshSubset, tags: {app: a}}", fromOne), mtp("p", "{kind: MeshSubset, tags: {app: a}}", fromAll)},
		"a deny of the service of a name":        {mtp("deny", "{kind: MeshService, name: web}", fromNone), mtp("p", named("web"), fromOne), mtp("p", named("web"), fromAll)},
		"a deny of a tag, an allow of a label":   {mtp("deny", "{kind: MeshSubset, tags: {app: a}}", fromNone), mtp("p", labels("app: a"), fromOne), mtp("p", labels("app: a"), fromAll)},
		"a deny of a zone":                       {object("deny", system, zone+"z1", mesh, denyAll), mtp("p", mesh, allowOne), mtp("p", mesh, allowAll)},
		"denies of namespace, port and name":     {object("'n'", "default", "", mesh, denyAll) + mtp("deny", section("8080"), denyAll) + mtp("b", named("backend"), denyAll), object("p", system, "", mesh, allowOne), object("p", system, "", mesh, allowAll)},
		"denies of two ports":                    {mtp("deny", section("8080"), denyAll) + mtp("next", section("8081"), denyAll), mtp("p", mesh, allowOne), mtp("p", mesh, allowAll)},
		"a policy goes to another zone":          {mtp("p", mesh, allowAll), object("deny", system, zone+"z1", mesh, denyAll), object("deny", system, zone+"z2", mesh, denyAll)},
		"a policy goes to another namespace":     {mtp("p", mesh, allowAll), object("deny", "x", "", mesh, denyAll), object("deny", "'y'", "", mesh, denyAll)},
		"an owner becomes the system":            {"", object("p", "x", "", mesh, allowAll), object("p", "x", "kuma.io/policy-role: system", mesh, allowAll)},
		"a deny becomes a shadow":                {mtp("p", mesh, allowAll), object("deny", system, "", mesh, denyAll), object("deny", system, "kuma.io/effect: shadow", mesh, denyAll)},
		"a deny goes to another mesh":            {mtp("p", mesh, allowAll), "---\n{type: MeshTrafficPermission, mesh: default, name: d, spec: {" + denyAll + "}}", "---\n{type: MeshTrafficPermission, mesh: other, name: d, spec: {" + denyAll + "}}"},
		"tcp alone":                              {"", mtp("p", mesh, "default: {allow: [{spiffeId: {type: Exact, value: spiffe://trust-domain.mesh/a}, path: {type: Prefix, value: /}}]}"), mtp("p", mesh, allowOne)},
		"tcp of labels alone":                    {"", mtp("p", labels("app: a"), "default: {allow: [{spiffeId: {type: Exact, value: spiffe://trust-domain.mesh/a}, path: {type: Prefix, value: /}}]}"), mtp("p", labels("app: a"), allowOne)},
		"an http path":                           {"", mtp("p", labels("app: a"), "default: {allow: [{path: {type: Exact, value: /a}}]}"), mtp("p", labels("app: a"), "default: {allow: [{path: {type: Prefix, value: /a}}]}")},
		"a method":                               {mtp("p", mesh, allowAll), mtp("d", labels("app: a"), "default: {deny: [{path: {type: Prefix, value: /a}}]}"), mtp("d", labels("app: a"), "default: {deny: [{method: GET, path: {type: Prefix, value: /a}}]}")},
		"two labels in place of one":             {mtp("p", mesh, allowAll), mtp("deny", labels("app: a"), denyAll), mtp("deny", labels("app: a, env: x"), denyAll)},
		"two denies become one":                  {mtp("p", mesh, allowAll), mtp("d", labels("app: a"), denyAll) + mtp("e", labels("env: x"), denyAll), mtp("d", labels("app: a, env: x"), denyAll)},
		"no labels":                              {mtp("deny", labels("app: b"), denyAll), mtp("p", labels("app: a"), allowAll), mtp("p", "{kind: Dataplane}", allowAll)},
		"a port in place of all":                 {mtp("p", mesh, allowAll), mtp("deny", labels("app: a"), denyAll), mtp("deny", "{kind: Dataplane, labels: {app: a}, sectionName: admin}", denyAll)},
		"a name in place of a port":              {mtp("p", mesh, allowAll), mtp("deny", section("9090"), denyAll), mtp("deny", section("http"), denyAll)},
		"a tag is lost":                          {"", mtp("p", "{kind: MeshSubset, tags: {app: a, env: x}}", fromAll), mtp("p", "{kind: MeshSubset, tags: {app: a}}", fromAll)},
		"a from is stronger by its name":         {mtp("m", mesh, fromNone), mtp("z", mesh, fromAll), mtp("a", mesh, fromAll)},
		"a from is stronger by its kind":         {mtp("m", "{kind: MeshSubset, tags: {app: a}}", fromNone), mtp("z", mesh, fromAll), mtp("z", "{kind: MeshService, name: a}", fromAll)},
		"a route is lost":                        {mtp("p", mesh, fromAll), mtp("r", "{kind: MeshHTTPRoute, name: r}", fromNone), ""},
		"a route lets in":                        {mtp("p", mesh, fromNone), mtp("r", "{kind: MeshHTTPRoute, name: r}", fromOne), mtp("r", "{kind: MeshHTTPRoute, name: r}", fromAll)},
		"rules that hide a from":                 {mtp("f", labels("app: a"), fromAll), mtp("p", mesh, allowOne), ""},
		"policies in one line":                   {"", "---\n{apiVersion: v1, kind: List, items: [{apiVersion: kuma.io/v1alpha1, kind: MeshTrafficPermission, metadata: {name: p, namespace: kuma-system}, spec: {targetRef: {kind: Dataplane, labels: {app: a}}, " + allowOne + "}}, {apiVersion: kuma.io/v1alpha1, kind: MeshTrafficPermission, metadata: {name: q, namespace: kuma-system}, spec: {targetRef: {kind: Dataplane, labels: {app: b}}, " + allowOne + "}}]}\n", "---\n{apiVersion: v1, kind: List, items: [{apiVersion: kuma.io/v1alpha1, kind: MeshTrafficPermission, metadata: {name: p, namespace: kuma-system}, spec: {targetRef: {kind: Dataplane, labels: {app: a}}, " + allowAll + "}}, {apiVersion: kuma.io/v1alpha1, kind: MeshTrafficPermission, metadata: {name: q, namespace: kuma-system}, spec: {targetRef: {kind: Dataplane, labels: {app: b}}, " + allowOne + "}}]}\n"},
		"policies in one line, together":         {"", "---\n{apiVersion: v1, kind: List, items: [{apiVersion: kuma.io/v1alpha1, kind: MeshTrafficPermission, metadata: {name: p, namespace: kuma-system}, spec: {targetRef: {kind: Dataplane, labels: {app: a}}, " + denyAll + "}}, {apiVersion: kuma.io/v1alpha1, kind: MeshTrafficPermission, metadata: {name: q, namespace: kuma-system}, spec: {targetRef: {kind: Dataplane, labels: {env: b}}, " + allowAll + "}}]}\n", "---\n{apiVersion: v1, kind: List, items: [{apiVersion: kuma.io/v1alpha1, kind: MeshTrafficPermission, metadata: {name: p, namespace: kuma-system}, spec: {targetRef: {kind: Dataplane, labels: {app: a}}, " + lists("deny", "[]") + "}}, {apiVersion: kuma.io/v1alpha1, kind: MeshTrafficPermission, metadata: {name: q, namespace: kuma-system}, spec: {targetRef: {kind: Dataplane, labels: {env: b}}, " + allowAll + "}}]}\n"},
		"a described inbound, and another port":  {fmt.Sprintf(dataplane, "http"), mtp("p", "{kind: Dataplane, labels: {app: a}, sectionName: '80'}", allowAll), mtp("p", labels("app: a"), allowAll)},
		"a described inbound, and tcp":           {fmt.Sprintf(dataplane, "http"), mtp("p", labels("app: a"), "default: {allow: [{spiffeId: {type: Exact, value: spiffe://trust-domain.mesh/a}, path: {type: Prefix, value: /}}]}"), mtp("p", labels("app: a"), allowOne)},
		"a described inbound, and one of tcp":    {fmt.Sprintf(dataplane, "http"), mtp("p", labels("tier: web"), "default: {allow: [{spiffeId: {type: Exact, value: spiffe://trust-domain.mesh/a}, path: {type: Prefix, value: /}}]}"), mtp("p", labels("tier: web"), allowOne)},
		"two described inbounds swap their tags": {"", versions("1", "2") + mtp("v1", version("1"), fromNone) + mtp("v2", version("2"), fromOne), versions("2", "1") + mtp("v1", version("1"), fromOne) + mtp("v2", version("2"), fromNone)},
		"a described inbound gets other labels":  {mtp("p", mesh, allowAll) + mtp("e", labels("tier: x"), denyAll), mtp("d", labels("tier: web"), denyAll) + renamed("web", "tier: web"), renamed("web", "tier: x")},
		"the protocol of an inbound":             {mtp("p", mesh, "default: {allow: [{path: {type: Prefix, value: /}}]}"), fmt.Sprintf(dataplane, "tcp"), fmt.Sprintf(dataplane, "http")},

		// A workload gets another name, which no deny has.
		"a Dataplane is renamed":                  {mtp("deny", named("web"), denyAll) + mtp("p", mesh, allowAll), fmt.Sprintf(dataplane, "http"), renamed("web2", "tier: web")},
		"a Dataplane is renamed, beside another":  {mtp("deny", named("web"), denyAll) + mtp("p", mesh, allowAll) + renamed("api", "tier: api"), fmt.Sprintf(dataplane, "http"), renamed("web2", "tier: web")},
		"two Dataplanes are renamed":              {mtp("deny", named("web"), denyAll) + mtp("p", mesh, allowAll), fmt.Sprintf(dataplane, "http") + renamed("api", "tier: api"), renamed("web2", "tier: web") + renamed("api2", "tier: api")},
		"a Dataplane is renamed, and its labels":  {mtp("deny", named("web"), denyAll) + mtp("p", mesh, allowAll) + renamed("api", "tier: api"), fmt.Sprintf(dataplane, "http"), renamed("web2", "tier: new")},
		"a Dataplane is gone, and its deny":       {mtp("p", mesh, allowAll) + renamed("api", "tier: api"), mtp("deny", named("web"), denyAll) + fmt.Sprintf(dataplane, "http"), ""},
		"a deny by label, and the labels changed": {mtp("deny", labels("tier: web"), denyAll) + mtp("p", mesh, allowAll), fmt.Sprintf(dataplane, "http"), renamed("web", "tier: x")},
		"a workload of a case is renamed":         {"", caseOf("web", ""), caseOf("wob", "")},
		"a workload of a case is gone":            {"", caseOf("api, inbounds: [{name: in, port: 80, protocol: http}]}, {name: web", ""), caseOf("api", "#")},

		// AuthorizationPolicy: expressions over one label and over several.
		"one value less":                 {"", pod("p", expressions(in("env", "a, b")), "[]"), pod("p", expressions(in("env", "a")), "[]")},
		"a corner of two labels":         {"", pod("p", expressions(in("a", "x, 'y'"), in("b", "x, 'y'")), "[]"), pod("p", expressions(in("a", "x"), in("b", "x, 'y'")), "[]") + pod("q", expressions(in("a", "'y'"), in("b", "x")), "[]")},
		"a corner of three labels":       {"", pod("p", expressions(in("a", "x, 'y'"), in("b", "x, 'y'"), in("c", "x, 'y'")), "[]"), pod("q", expressions(in("a", "x, 'y'"), in("b", "x, 'y'"), in("c", "x")), "[]") + pod("r", expressions(in("a", "x, 'y'"), in("b", "x"), in("c", "x, 'y'")), "[]") + pod("s", expressions(in("a", "x"), in("b", "x, 'y'"), in("c", "x, 'y'")), "[]")},
		"two labels that are lacking":    {"", pod("p", "matchLabels: {app: a}", "[]"), pod("q", "matchLabels: {app: a}, "+expressions(lacks("env")), "[]") + pod("r", "matchLabels: {app: a}, "+expressions(lacks("tier")), "[]")},
		"three values that are not":      {"", pod("p", "matchLabels: {app: a}", "[]"), pod("q", "matchLabels: {app: a}, "+expressions(notIn("env", "x")), "[]") + pod("r", "matchLabels: {app: a}, "+expressions(notIn("tier", "x")), "[]") + pod("s", "matchLabels: {app: a}, "+expressions(notIn("role", "x")), "[]")},
		"others let in":                  {pod("q", expressions(notIn("env", "x")), "[{}]") + pod("r", expressions(in("env", "x"), notIn("tier", "'y'")), "[{}]"), pod("p", "matchLabels: {app: a}", "[]"), ""},
		"a label that exists":            {pod("q", expressions("{key: env, operator: Exists}"), "[{}]"), pod("p", "matchLabels: {app: a}", "[]"), pod("p", "matchLabels: {app: a, env: x}", "[]")},
		"a port less":                    {"", pod("p", "matchLabels: {app: a}", "[]"), pod("p", "matchLabels: {app: a}", "[{networkAttributes: {ports: [9090]}}]")},
		"another port":                   {"", pod("p", "matchLabels: {app: a}", "[{networkAttributes: {ports: [9090]}}]"), pod("p", "matchLabels: {app: a}", "[{networkAttributes: {ports: [9091]}}]")},
		"a port of another policy":       {pod("q", "matchLabels: {env: x}", "[{networkAttributes: {ports: [8080]}}]"), pod("p", "matchLabels: {app: a}", "[]"), ""},
		"values that exclude each other": {"", pod("p", expressions(in("env", "x, 'y'")), "[]"), pod("q", expressions(in("env", "x, 'y'")), "[]") + pod("r", expressions(notIn("env", "x")), "[{}]")},
		"ports that hide":                {pod("q", "matchLabels: {env: x}", "[{networkAttributes: {ports: [8080]}}]") + pod("r", "matchLabels: {env: x}", "[{networkAttributes: {ports: [8081]}}]"), pod("p", "matchLabels: {app: a}", "[{networkAttributes: {ports: [8080, 8081]}}]"), pod("p", "matchLabels: {app: a}", "[{}]")},
		"the last policy":                {"", pod("p", "", "[]"), "---\n"},
		"the empty selector":             {pod("q", "matchLabels: {app: a}", "[]"), pod("p", "", "[]"), pod("p", "matchLabels: {app: a}", "[]")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if n := widened(t, tt.same+tt.old, tt.same+tt.recent); n == 0 {
				t.Errorf("nothing widens from\n%s\nto\n%s\nbeside\n%s", tt.old, tt.recent, tt.same)
			}
			if n := widened(t, tt.same+tt.old, tt.same+tt.old); n != 0 {
				t.Errorf("no change widens %d classes", n)
			}
		})
	}
}

// A new name by itself widens nothing: the deny goes along, or asks for no name.
func TestRenamed(t *testing.T) {
	t.Parallel()
	const (
		rules     = `default: {%s: [{spiffeId: {type: Prefix, value: "spiffe://trust-domain.mesh/"}}]}`
		dataplane = "---\n{type: Dataplane, mesh: default, name: %s, labels: {tier: %s}, networking: {address: 10.0.0.1, inbound: [{name: in, port: 8080, protocol: http}]}}\n"
	)
	side := func(name, target string) string {
		return "{type: MeshTrafficPermission, mesh: default, name: p, spec: {targetRef: {kind: Mesh}, " + fmt.Sprintf(rules, "allow") + "}}\n---\n" +
			"{type: MeshTrafficPermission, mesh: default, name: d, spec: {targetRef: {kind: Dataplane, " + target + "}, " + fmt.Sprintf(rules, "deny") + "}}\n" +
			fmt.Sprintf(dataplane, name, "web") + fmt.Sprintf(dataplane, "api", "api")
	}
	for name, tt := range map[string]struct{ old, recent string }{
		"the deny goes along":       {side("web", "name: web"), side("web2", "name: web2")},
		"the deny asks for a label": {side("web", "labels: {tier: web}"), side("web2", "labels: {tier: web}")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := differenceOf(t, tt.old, tt.recent)
			if reasons := d.widenings(); len(reasons) > 0 {
				t.Errorf("%q", reasons)
			}
			var b strings.Builder
			d.WriteText(&b, terminal.Paint(false))
			if text := b.String(); !strings.Contains(text, "web2/in: was web/in") {
				t.Error(text)
			}
		})
	}
}

// Requests that the lab cannot send widen access too. They are in no class, and the verdict
// names them.
func TestWideningBeyondTheLab(t *testing.T) {
	t.Parallel()
	policies := func(rules string) string {
		return "{type: MeshTrafficPermission, mesh: default, name: p, spec: {targetRef: {kind: Mesh}, default: {allow: [{path: {type: Exact, value: /a}}" + rules + "]}}}\n"
	}
	for name, more := range map[string]string{
		"a method of its own":               ", {method: PREACH}",
		"a path that the listener rewrites": ", {path: {type: Prefix, value: /b//c}}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := differenceOf(t, policies(""), policies(more))
			if n := d.counts()[Widened]; n != 0 || len(d.widenings()) == 0 {
				t.Errorf("%d classes widen, and the verdict is %q", n, d.Verdict())
			}
			if back := differenceOf(t, policies(more), policies("")).widenings(); len(back) > 0 {
				t.Errorf("the other way round: %q", back)
			}
		})
	}
}

// widened counts the classes that widen.
func widened(t *testing.T, old, recent string) int {
	t.Helper()
	return differenceOf(t, old, recent).counts()[Widened]
}

func differenceOf(t *testing.T, old, recent string) *Difference {
	t.Helper()
	d, err := Diff(sideOf(t, old), sideOf(t, recent), "")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// sideOf is a side with one file.
func sideOf(t *testing.T, text string) Side {
	t.Helper()
	s := lab.Surroundings{Inbound: policy.Inbound{Port: 8080, Workload: policy.Workload{Name: "backend", Namespace: "default", Mesh: "default"}}}
	path := filepath.Join(t.TempDir(), "p.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	files, err := Open(lab.Choice{}, path)
	if err != nil {
		t.Fatal(err)
	}
	return Side{files, s}
}
