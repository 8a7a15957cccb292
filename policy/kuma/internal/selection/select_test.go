package selection_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/evaluation"
	"github.com/meshproof/meshproof/policy/kuma/internal/fixture"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/kuma/internal/selection"
)

// TestSelect has one policy and one workload at a time. want is the reason why the policy
// is ignored, "" if it is selected.
func TestSelect(t *testing.T) {
	t.Parallel()
	const universal = "type: MeshTrafficPermission\nname: p\n"
	kubernetes := func(namespace, labels string) string {
		return fmt.Sprintf("apiVersion: kuma.io/v1alpha1\nkind: MeshTrafficPermission\nmetadata: {name: p, namespace: %q, labels: {%s}}\n", namespace, labels)
	}
	target := func(ref string) string { return universal + "spec: {targetRef: {kind: Dataplane, " + ref + "}}" }
	in := func(edit func(w *policy.Workload)) policy.Inbound {
		w := fixture.Backend()
		edit(&w)
		return policy.Inbound{Workload: w, Name: "http-port", Port: 8080}
	}
	plain := in(func(*policy.Workload) {})
	unnamed := plain
	unnamed.Name = ""
	zone := func(origin, zone string) policy.Inbound {
		return in(func(w *policy.Workload) { w.Origin, w.Zone = origin, zone })
	}
	for _, tt := range []struct {
		name, policy string
		inbound      policy.Inbound
		opts         permission.Options
		want         string
	}{
		{name: "no targetRef", policy: universal, inbound: plain},
		{name: "empty targetRef", policy: universal + "spec: {targetRef: {}}", inbound: plain},
		{name: "kind Mesh", policy: universal + "spec: {targetRef: {kind: Mesh}}", inbound: plain},
		{name: "kind Dataplane alone", policy: universal + "spec: {targetRef: {kind: Dataplane}}", inbound: plain},
		{name: "empty labels", policy: target("labels: {}"), inbound: plain},
		{name: "name", policy: target("name: backend"), inbound: plain},
		{name: "other name", policy: target("name: frontend"), inbound: plain, want: `targetRef.name is "frontend"`},
		{name: "name in the own zone", policy: "labels: {kuma.io/zone: east}\n" + target("name: backend"), inbound: zone("zone", "east")},
		{name: "name where the workload states no zone", policy: "labels: {kuma.io/zone: east}\n" + target("name: backend"), inbound: plain},
		{name: "name in another zone", policy: "labels: {kuma.io/origin: global, kuma.io/zone: west}\n" + target("name: backend"), inbound: zone("zone", "east"),
			want: `targetRef.name names a Dataplane of the policy's own zone "west", the workload is of zone "east": select by labels`},
		{name: "name of a producer in another zone", policy: "labels: {kuma.io/origin: zone, kuma.io/zone: west, kuma.io/policy-role: producer}\n" + target("name: backend"), inbound: zone("zone", "east"),
			want: `targetRef.name names a Dataplane of the policy's own zone "west", the workload is of zone "east": select by labels`},
		{name: "name in a global policy", policy: "labels: {kuma.io/origin: global}\n" + target("name: backend"), inbound: plain,
			want: `targetRef.name names a Dataplane of the policy's own zone, and a global policy has none: select by labels`},
		{name: "one label", policy: target("labels: {app: backend}"), inbound: plain},
		{name: "one label of two", policy: target("labels: {app: backend, v: v1}"), inbound: plain, want: `targetRef.labels asks for v="v1", the workload has none`},
		{name: "display name", policy: target("labels: {kuma.io/display-name: backend}"), inbound: plain},
		{name: "display name without a namespace", policy: target("labels: {kuma.io/display-name: backend}"), inbound: in(func(w *policy.Workload) { w.Namespace = "" }),
			want: `targetRef.labels asks for kuma.io/display-name="backend", the workload has none`},
		{name: "computed labels", policy: target("labels: {kuma.io/mesh: default, kuma.io/zone: east, kuma.io/origin: zone, k8s.kuma.io/namespace: default}"), inbound: zone("zone", "east")},
		{name: "section by name", policy: target("sectionName: http-port"), inbound: plain},
		{name: "named section by port", policy: target("sectionName: '8080'"), inbound: plain, want: `targetRef.sectionName is "8080", the inbound's is "http-port"`},
		{name: "unnamed section by port", policy: target("sectionName: '8080'"), inbound: unnamed},
		{name: "another mesh", policy: universal + "mesh: prod", inbound: plain, want: `it is of mesh "prod", the workload of mesh "default"`},
		{name: "the workload's mesh", policy: universal + "mesh: prod", inbound: in(func(w *policy.Workload) { w.Mesh = "prod" })},
		{name: "mesh by label", policy: kubernetes("kuma-system", "kuma.io/mesh: prod"), inbound: in(func(w *policy.Workload) { w.Mesh = "prod" })},
		{name: "shadow policy", policy: universal + "labels: {kuma.io/effect: shadow}", inbound: plain, want: "the label kuma.io/effect makes it a shadow policy"},
		{name: "system namespace", policy: kubernetes("kuma-system", ""), inbound: plain},
		{name: "own namespace", policy: kubernetes("default", ""), inbound: plain},
		{name: "no namespace is the default one", policy: kubernetes("", ""), inbound: in(func(w *policy.Workload) { w.Namespace = "" })},
		{name: "foreign namespace", policy: kubernetes("shop", ""), inbound: plain, want: `it is of namespace "shop", the workload of namespace "default"`},
		{name: "another system namespace", policy: kubernetes("mesh-system", ""), inbound: plain, opts: permission.Options{SystemNamespace: "mesh-system"}},
		{name: "no longer the system namespace", policy: kubernetes("kuma-system", ""), inbound: plain, opts: permission.Options{SystemNamespace: "mesh-system"},
			want: `it is of namespace "kuma-system", the workload of namespace "default"`},
		{name: "namespace by label", policy: kubernetes("kuma-system", "k8s.kuma.io/namespace: shop"), inbound: plain, want: `it is of namespace "shop", the workload of namespace "default"`},
		{name: "role by label", policy: kubernetes("shop", "kuma.io/policy-role: system"), inbound: plain},
		{name: "producer of another namespace", policy: kubernetes("shop", "kuma.io/policy-role: producer"), inbound: plain},
		{name: "consumer of another namespace", policy: kubernetes("shop", "kuma.io/policy-role: consumer"), inbound: plain, want: `it is of namespace "shop", the workload of namespace "default"`},
		{name: "owner on universal", policy: universal + "labels: {kuma.io/policy-role: workload-owner, k8s.kuma.io/namespace: shop}", inbound: plain,
			want: `it is of namespace "shop", the workload of namespace "default"`},
		{name: "other zone", policy: universal + "labels: {kuma.io/origin: zone, kuma.io/zone: west}", inbound: zone("zone", "east"), want: `it is of zone "west", the workload of zone "east"`},
		{name: "same zone", policy: universal + "labels: {kuma.io/origin: zone, kuma.io/zone: east}", inbound: zone("zone", "east")},
		{name: "global policy", policy: universal + "labels: {kuma.io/origin: global, kuma.io/zone: west}", inbound: zone("zone", "east")},
		{name: "policy without origin", policy: universal + "labels: {kuma.io/zone: west}", inbound: zone("zone", "east")},
		{name: "global workload", policy: universal + "labels: {kuma.io/origin: zone, kuma.io/zone: west}", inbound: zone("global", "east")},
		{name: "workload without origin", policy: universal + "labels: {kuma.io/origin: zone, kuma.io/zone: west}", inbound: zone("", "east")},
		{name: "producer of another zone", policy: universal + "labels: {kuma.io/origin: zone, kuma.io/zone: west, kuma.io/policy-role: producer}", inbound: zone("zone", "east")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			sel := selection.Select(fixture.Parse(t, tt.policy), tt.inbound, tt.opts)
			got := ""
			if len(sel.Ignored) == 1 {
				got = sel.Ignored[0].Reason
			}
			if got != tt.want {
				t.Errorf("reason %q, want %q", got, tt.want)
			}
			if len(sel.Policies)+len(sel.Ignored) != 1 || (len(sel.Policies) == 1) != (tt.want == "") {
				t.Errorf("selected %v, ignored %v", sel.Policies, sel.Ignored)
			}
		})
	}
}

// ordered has policies that all apply to one inbound, the weakest first. The first two
// differ in the name only, and the next in the zone. Each of the others is stronger for one
// reason, although its name sorts the other way.
const ordered = `
{type: MeshTrafficPermission, name: b, labels: {kuma.io/origin: global}}
---
{type: MeshTrafficPermission, name: a, labels: {kuma.io/origin: global}}
---
{type: MeshTrafficPermission, name: a, labels: {kuma.io/origin: global, kuma.io/zone: z}}
---
{type: MeshTrafficPermission, name: c, labels: {kuma.io/origin: global, kuma.io/policy-role: producer}}
---
{type: MeshTrafficPermission, name: d, labels: {kuma.io/origin: global, kuma.io/policy-role: consumer, k8s.kuma.io/namespace: default}}
---
{apiVersion: kuma.io/v1alpha1, kind: MeshTrafficPermission, metadata: {name: e, namespace: default, labels: {kuma.io/origin: global}}}
---
{type: MeshTrafficPermission, name: f}
---
{type: MeshTrafficPermission, name: g, labels: {kuma.io/origin: zone}}
---
{type: MeshTrafficPermission, name: h, labels: {kuma.io/origin: global}, spec: {targetRef: {kind: Dataplane, labels: {app: backend}}}}
---
{type: MeshTrafficPermission, name: i, labels: {kuma.io/origin: global}, spec: {targetRef: {kind: Dataplane, sectionName: http-port}}}
`

func TestOrder(t *testing.T) {
	t.Parallel()
	ps := fixture.Parse(t, ordered)
	var want []string
	for _, p := range ps {
		want = append(want, p.String())
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		random.Shuffle(len(ps), func(i, j int) { ps[i], ps[j] = ps[j], ps[i] })
		sel := selection.Select(ps, fixture.Inbounds()[0], permission.Options{})
		var got []string
		for _, p := range sel.Policies {
			got = append(got, p.String())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("order (-want +got):\n%s", diff)
		}
		if len(sel.Ignored) > 0 {
			t.Fatalf("ignored: %v", sel.Ignored)
		}
	}
}

func TestOrderDecidesAttribution(t *testing.T) {
	t.Parallel()
	yaml := ""
	for _, name := range []string{"a", "c", "b"} {
		yaml += "---\n{type: MeshTrafficPermission, name: " + name + ", spec: {default: {deny: [{method: GET}]}}}\n"
	}
	d := evaluation.ForInbound(fixture.Parse(t, yaml), fixture.Inbounds()[0], permission.Options{})(policy.Request{Method: "GET", Path: "/"})
	if !strings.HasSuffix(d.Origin, "_c_") {
		t.Errorf("denied by %s, want the weakest policy, for its rule stands first", d.Origin)
	}
}

func TestKRI(t *testing.T) {
	t.Parallel()
	for yaml, want := range map[string]string{
		"{type: MeshTrafficPermission, name: p}":                                                                           "kri_mtp_default___p_",
		"{type: MeshTrafficPermission, mesh: prod, name: p}":                                                               "kri_mtp_prod___p_",
		"{type: MeshTrafficPermission, name: p, labels: {kuma.io/mesh: prod}}":                                             "kri_mtp_prod___p_",
		"{type: MeshTrafficPermission, name: p, labels: {kuma.io/zone: z, k8s.kuma.io/namespace: 'n'}}":                    "kri_mtp_default_z_n_p_",
		"{type: MeshTrafficPermission, name: p-hash, labels: {kuma.io/display-name: p}}":                                   "kri_mtp_default___p_",
		"{apiVersion: kuma.io/v1alpha1, kind: MeshTrafficPermission, metadata: {name: p}}":                                 "kri_mtp_default__default_p_",
		"{apiVersion: kuma.io/v1alpha1, kind: MeshTrafficPermission, metadata: {name: p, namespace: 'n'}}":                 "kri_mtp_default__n_p_",
		"{apiVersion: kuma.io/v1alpha1, kind: MeshTrafficPermission, metadata: {name: p, labels: {kuma.io/mesh: prod}}}":   "kri_mtp_prod__default_p_",
		"{apiVersion: kuma.io/v1alpha1, kind: MeshTrafficPermission, metadata: {name: p, labels: {kuma.io/zone: zone-1}}}": "kri_mtp_default_zone-1_default_p_",
	} {
		p := fixture.Parse(t, yaml)[0]
		if p.String() != want || p.ID.String() != want {
			t.Errorf("%s: %s, want %s", yaml, p, want)
		}
		if got := p.Place(); got != "policies.yaml:1" {
			t.Errorf("Place() = %s", got)
		}
	}
}

// Legacy policies that name a Dataplane, select it by labels and select every one have no order. Rules need none.
func TestCircle(t *testing.T) {
	t.Parallel()
	const from, rules = "from: [{targetRef: {kind: Mesh}, default: {action: Allow}}]", "rules: [{default: {allow: [{spiffeId: {type: Exact, value: spiffe://td/a}}]}}]"
	policies := func(spec string, targets ...string) string {
		var b strings.Builder
		for i, target := range targets {
			fmt.Fprintf(&b, "---\n{type: MeshTrafficPermission, name: p%d, spec: {targetRef: {kind: Dataplane%s}, %s}}\n", i, target, spec)
		}
		return b.String()
	}
	for name, tt := range map[string]struct{ text, want string }{
		"three forms": {policies(from, ", name: backend", ", labels: {app: backend}", ""), "kri_mtp_default___p2_"},
		"two forms":   {policies(from, ", name: backend", ""), ""},
		"rules":       {policies(rules, ", name: backend", ", labels: {app: backend}", ""), ""},
		"others":      {policies(from, ", name: backend", ", labels: {app: other}", ""), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ""
			if p := selection.Select(fixture.Parse(t, tt.text), fixture.Inbounds()[0], permission.Options{}).Circle(permission.Options{}); p != nil {
				got = p.Origin
			}
			if got != tt.want {
				t.Errorf("got %q", got)
			}
		})
	}
}
