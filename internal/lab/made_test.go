package lab_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/policy"
)

const (
	mtp = "type: MeshTrafficPermission\nmesh: default\nspec: {%s}\nname: "
	pod = "apiVersion: gateway.networking.k8s.io/v1\nkind: AuthorizationPolicy\nspec: {action: ALLOW, enforcementLevel: Network, targetRefs: [{kind: Pod, selector: {%s}}]%s}\nmetadata: {name: p}\n"
)

// An inbound is made for each distinct target that no described inbound meets, and none for
// a target that contradicts itself.
func TestPopulate(t *testing.T) {
	t.Parallel()
	kuma := func(name, target string) string {
		return fmt.Sprintf(mtp, "targetRef: "+target+", default: {}") + name + "\n"
	}
	gateway := func(selector, rules string) string { return fmt.Sprintf(pod, selector, rules) }
	for name, tt := range map[string]struct {
		policies string
		labels   map[string]string
		want     []string
		unasked  int
	}{
		"the mesh":                      {policies: kuma("p", "{kind: Mesh}")},
		"labels":                        {policies: kuma("p", "{kind: Dataplane, labels: {app: a}}"), want: []string{"made-for-p/8080 map[app:a]"}},
		"labels twice":                  {policies: kuma("p", "{kind: Dataplane, labels: {app: a}}") + "---\n" + kuma("q", "{kind: Dataplane, labels: {app: a}}"), want: []string{"made-for-p/8080 map[app:a]"}},
		"a label that nobody states":    {policies: "{type: Dataplane, mesh: default, name: web, networking: {address: 10.0.0.1, inbound: [{port: 8080}]}}\n---\n" + kuma("p", "{kind: Dataplane, labels: {kuma.io/env: a}}") + "---\n" + kuma("q", "{kind: Dataplane, labels: {kuma.io/env: a}}"), want: []string{"made-for-p/8080 map[kuma.io/env:a]"}, unasked: 2},
		"labels that are described":     {policies: kuma("p", "{kind: Dataplane, labels: {app: a}}"), labels: map[string]string{"app": "a", "b": "c"}},
		"labels that a name implies":    {policies: kuma("p", "{kind: Dataplane, labels: {kuma.io/display-name: x}}"), want: []string{"x/8080 map[]"}},
		"a name":                        {policies: kuma("p", "{kind: Dataplane, name: web}"), want: []string{"web/8080 map[]"}},
		"sections":                      {policies: kuma("p", "{kind: Dataplane, sectionName: a}") + "---\n" + kuma("q", "{kind: Dataplane, sectionName: '9090'}"), want: []string{"made-for-p/a map[]", "made-for-q/9090 map[]"}},
		"tags":                          {policies: fmt.Sprintf(mtp, "targetRef: {kind: MeshService, name: s}, from: []") + "p\n", want: []string{"made-for-p/8080 map[] map[kuma.io/service:s]"}},
		"a route":                       {policies: fmt.Sprintf(mtp, "targetRef: {kind: MeshHTTPRoute, name: r}, from: []") + "p\n", want: []string{"made-for-p/8080 map[] r"}},
		"two that select together":      {policies: kuma("p", "{kind: Dataplane, labels: {app: a}}") + "---\n" + kuma("q", "{kind: Dataplane, labels: {env: x}}"), want: []string{"made-for-p/8080 map[app:a]", "made-for-q/8080 map[env:x]", "made-for-p-q/8080 map[app:a env:x]"}},
		"one of them is described":      {policies: kuma("p", "{kind: Dataplane, labels: {app: a}}") + "---\n" + kuma("q", "{kind: Dataplane, labels: {env: x}}"), labels: map[string]string{"app": "a"}, want: []string{"made-for-q/8080 map[env:x]", "made-for-p-q/8080 map[app:a env:x]"}},
		"a shadow policy":               {policies: kuma("p", "{kind: Mesh}") + "labels: {kuma.io/effect: shadow}\n", unasked: 1},
		"a shadow policy beside others": {policies: kuma("p", "{kind: Mesh}") + "labels: {kuma.io/effect: shadow}\n---\n" + kuma("q", "{kind: Mesh}")},
		"two namespaces": {
			policies: "apiVersion: kuma.io/v1alpha1\nkind: MeshTrafficPermission\nmetadata: {name: p, namespace: x}\nspec: {targetRef: {kind: Dataplane, labels: {k8s.kuma.io/namespace: 'y'}}, default: {}}\n",
			unasked:  1,
		},
		"a selector":        {policies: gateway("matchLabels: {app: a}", ""), want: []string{"made-for-p/8080 map[app:a]"}},
		"the empty one":     {policies: gateway("", "")},
		"one of":            {policies: gateway("matchExpressions: [{key: app, operator: In, values: [a, b]}, {key: app, operator: NotIn, values: [a]}]", ""), want: []string{"made-for-p/8080 map[app:b]"}},
		"none of":           {policies: gateway("matchExpressions: [{key: app, operator: Exists}, {key: app, operator: NotIn, values: [any, any-0]}]", ""), want: []string{"made-for-p/8080 map[app:made-value]"}},
		"one and none":      {policies: gateway("matchLabels: {app: a}, matchExpressions: [{key: app, operator: NotIn, values: [a]}]", ""), unasked: 1},
		"there and not":     {policies: gateway("matchExpressions: [{key: app, operator: Exists}, {key: app, operator: DoesNotExist}]", ""), unasked: 1},
		"two values of one": {policies: gateway("matchLabels: {app: a}, matchExpressions: [{key: app, operator: In, values: [b]}]", ""), unasked: 1},
		"nothing but an authentication that no policy names": {
			policies: "apiVersion: policy.linkerd.io/v1alpha1\nkind: NetworkAuthentication\nmetadata: {name: 'n', namespace: x}\nspec: {networks: [{cidr: 10.0.0.0/8}]}\n",
			unasked:  1,
		},
		"nothing but a route of a Service": {
			policies: "apiVersion: policy.linkerd.io/v1beta3\nkind: HTTPRoute\nmetadata: {name: r, namespace: x}\nspec: {parentRefs: [{kind: Service, group: core, name: s, port: 80}], rules: [{matches: [{path: {type: Exact, value: /a}}]}]}\n",
			unasked:  1,
		},
		"nothing but calls of a workload": {
			policies: "apiVersion: cilium.io/v2\nkind: CiliumNetworkPolicy\nmetadata: {name: p, namespace: x}\nspec: {endpointSelector: {matchLabels: {app: a}}, egress: [{toEntities: [world]}]}\n",
			unasked:  1,
		},
		"calls of a workload, and a default deny of calls to it": {
			policies: "apiVersion: cilium.io/v2\nkind: CiliumNetworkPolicy\nmetadata: {name: p, namespace: x}\nspec: {endpointSelector: {matchLabels: {app: a}}, ingress: [{}], egress: [{toEntities: [world]}]}\n",
			want:     []string{"made-for-p/8080 map[app:a]"},
		},
		"ports": {
			policies: gateway("matchLabels: {app: a}", ", rules: [{networkAttributes: {ports: [8080, 5432]}}]"),
			want:     []string{"made-for-p/5432 map[app:a]", "made-for-p-2/8080 map[app:a]", "made-for-p-3/8081 map[app:a]"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files, err := lab.Open(lab.Choice{}, write(t, map[string]string{"p.yaml": tt.policies}))
			if err != nil {
				t.Fatal(err)
			}
			s := lab.Surroundings{Inbound: policy.Inbound{Port: 8080, Workload: policy.Workload{Name: "backend", Namespace: "default", Mesh: "default", Labels: tt.labels}}}
			all, population, err := files.CasesInFull(s)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, c := range all {
				for i, m := range c.Made {
					if in := c.Inbounds[i].String(); in != m.Inbound.String() {
						t.Errorf("%s is said to be %s", in, m.Inbound)
					}
					text := fmt.Sprintf("%s %v", m.Inbound, m.Workload.Labels)
					if m.Tags != nil {
						text += fmt.Sprintf(" %v", m.Tags)
					}
					for _, r := range m.Routes {
						text += " " + r.Name
					}
					got = append(got, text)
					if !strings.Contains(m.String(), "p.yaml:") {
						t.Errorf("%s does not say for which policy it was made", m)
					}
				}
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			unasked := 0
			for _, u := range population.Unasked {
				if !u.Inert {
					unasked++
				}
			}
			if unasked != tt.unasked {
				t.Errorf("not asked: %v", population.Unasked)
			}
		})
	}
}

// Labels are combined up to a bound. Beyond it, the population says that it is not whole.
func TestPopulateIsBounded(t *testing.T) {
	t.Parallel()
	for n, truncated := range map[int]bool{3: false, 8: true} {
		var keys []string
		for i := range n {
			keys = append(keys, fmt.Sprintf("{key: k%d, operator: In, values: [a, b, c]}", i))
		}
		files, err := lab.Open(lab.Choice{}, write(t, map[string]string{"p.yaml": fmt.Sprintf(pod, "matchExpressions: ["+strings.Join(keys, ", ")+"]", "")}))
		if err != nil {
			t.Fatal(err)
		}
		s := lab.Surroundings{Inbound: policy.Inbound{Port: 8080, Workload: policy.Workload{Name: "backend", Namespace: "default"}}}
		set, err := files.PolicySet(s)
		if err != nil {
			t.Fatal(err)
		}
		set.Changed = func(string) bool { return true }
		if population := lab.Populate(s.Inbound, set, lab.PolicySet{Policies: set.Policies}); population.Truncated != truncated || len(population.Made) != 1 {
			t.Errorf("%d labels: %d inbounds made, truncated: %t", n, len(population.Made), population.Truncated)
		}
	}
}

// Of inbounds that no file describes, those that were made for the policies stand first: the reader looks for them.
func TestAssumedInboundIsLast(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "a.yaml")
	if err := os.WriteFile(file, []byte("{apiVersion: policy.linkerd.io/v1beta3, kind: Server, metadata: {name: a, namespace: shop}, spec: {podSelector: {}, port: 9990}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	files, err := lab.Open(lab.Choice{}, file)
	if err != nil {
		t.Fatal(err)
	}
	all, population, err := files.CasesInFull(lab.Surroundings{Inbound: policy.Inbound{Workload: policy.Workload{Name: "backend", Namespace: "default"}, Port: 8080}})
	if err != nil {
		t.Fatal(err)
	}
	if last := all[len(all)-1]; len(all) != 2 || last.Name != file || !strings.HasPrefix(population.Assumed, "backend/8080") {
		t.Errorf("%d cases, the last one is %q; assumed %q", len(all), last.Name, population.Assumed)
	}
}
