package manifestdiff_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/meshproof/meshproof/internal/manifestdiff"
)

// textsOf returns a line for each difference, without its place.
func textsOf(all []manifestdiff.Passed) string {
	var lines []string
	for _, p := range all {
		line := p.Object + " " + p.Effect
		if len(p.Fields) > 0 {
			line = p.Object + " " + strings.Join(p.Fields, " ")
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "; ")
}

// What differs beside the policies is a change, or passes: nothing of it is silent.
func TestPassed(t *testing.T) {
	t.Parallel()
	all := together(policy, deployment, service, serviceAccount)
	of := func(version, kind, more string) string {
		return "apiVersion: " + version + "\nkind: " + kind + "\nmetadata: {name: 'n', namespace: shop}\n" + more
	}
	const dp = "type: Dataplane\nmesh: default\nname: web\nlabels: {app: web}\nnetworking: {address: 10.0.0.1, inbound: [{name: in, port: 8080, tags: {kuma.io/service: web}, health: {ready: true}}]}\n"
	for _, tt := range []struct {
		change
		want, compared string
	}{
		{change{"nothing", all, "", ""}, "", ""},
		{change{"the order of keys", all, "metadata: {name: web, namespace: shop}\n", "metadata: {namespace: shop, name: web}\n"}, "", ""},
		{change{"an image", all, "image: shop/web:1", "image: shop/web:2"}, "Deployment shop/web spec.template.spec.containers[0].image", ""},
		{change{"replicas and a pause", all, "replicas: 2", "replicas: 3\n  paused: true"}, "Deployment shop/web spec.replicas spec.paused", ""},
		{change{"replicas gone", all, "  replicas: 2\n", ""}, "Deployment shop/web spec.replicas", ""},
		{change{"an annotation with a dot", all, "note: a", "note: a, checksum/a.b: c"}, `Deployment shop/web metadata.annotations["checksum/a.b"]`, ""},
		{change{"a container becomes one of init", all, "        - {name: log, image: shop/log:1}\n      initContainers: [{name: migrate, image: shop/web:1}]", "      initContainers: [{name: migrate, image: shop/web:1}, {name: log, image: shop/log:1}]"}, "Deployment shop/web spec.template.spec.containers[1]", ""},
		{change{"two containers in another order", of("apps/v1", "Deployment", "spec: {template: {spec: {containers: [{name: a}, {name: b}]}}}"), "[{name: a}, {name: b}]", "[{name: b}, {name: a}]"}, "Deployment shop/n spec.template.spec.containers", ""},
		{change{"arguments", all, "args: [a]", "args: [b, c]"}, "Deployment shop/web spec.template.spec.containers[0].args[0] spec.template.spec.containers[0].args[1]", ""},
		{change{"a text for a number", all, "replicas: 2", "replicas: '2'"}, "Deployment shop/web spec.replicas", ""},
		{change{"a new workload", policy, "", deployment}, "Deployment shop/web is new", ""},
		{change{"a workload that is gone", policy, deployment, ""}, "Deployment shop/web is gone", ""},
		{change{"a kind that cannot matter", policy, of("autoscaling/v2", "HorizontalPodAutoscaler", "spec: {a: 1}"), of("autoscaling/v2", "HorizontalPodAutoscaler", "spec: {a: 2}")}, "HorizontalPodAutoscaler shop/n spec.a", ""},
		{change{"a config of an application", policy, of("v1", "ConfigMap", "data: {a: b}"), of("v1", "ConfigMap", "data: {a: b, c.d: e}")}, `ConfigMap shop/n data["c.d"]`, ""},
		{change{"what a server writes", all, "kind: Service\n", "kind: Service\nstatus: {a: b}\n"}, "Service shop/web status", ""},
		{change{"the network of the host, and an image", all, "serviceAccountName: web", "serviceAccountName: web\n      hostNetwork: true\n      hostname: a"}, "Deployment shop/web spec.template.spec.hostname", ""},
		{change{"a filter", policy, "", of("networking.istio.io/v1alpha3", "EnvoyFilter", "spec: {}")}, "", ""},
		{change{"a filter's field", policy, of("networking.istio.io/v1alpha3", "EnvoyFilter", "spec: {a: 1}"), of("networking.istio.io/v1alpha3", "EnvoyFilter", "spec: {a: 2}\nstatus: {b: 1}")}, "EnvoyFilter shop/n status", ""},
		{change{"a new workload in the network of the host", policy, "", strings.Replace(deployment, "serviceAccountName: web", "hostNetwork: true", 1)}, "", ""},
		{change{"an annotation of a policy", all, "kind: AuthorizationPolicy\nmetadata: {name: p, namespace: shop}", "kind: AuthorizationPolicy\nmetadata: {name: p, namespace: shop, generation: 2, annotations: {note: a}}"}, "AuthorizationPolicy shop/p metadata.generation metadata.annotations.note", ""},
		{change{"a label of another mesh", all, "kind: AuthorizationPolicy\nmetadata: {name: p, namespace: shop}", "kind: AuthorizationPolicy\nmetadata: {name: p, namespace: shop, labels: {}, annotations: {kuma.io/mesh: a}}"}, "AuthorizationPolicy shop/p metadata.labels metadata.annotations[\"kuma.io/mesh\"]", ""},
		{change{"a dry run", all, "kind: AuthorizationPolicy\nmetadata: {name: p, namespace: shop}", "kind: AuthorizationPolicy\nmetadata: {name: p, namespace: shop, annotations: {istio.io/dry-run: 'true'}}"}, "", ""},
		{change{"a rule of a policy", all, "ports: ['8080']", "ports: ['80']"}, "", ""},
		{change{"a policy of a hook", all, "kind: AuthorizationPolicy\nmetadata: {name: p, namespace: shop}", "kind: AuthorizationPolicy\nmetadata: {name: p, namespace: shop, annotations: {helm.sh/hook: test}}"}, "", ""},
		{change{"the health of a Dataplane", together(policy, dp), "ready: true", "ready: false"}, "Dataplane default/web networking.inbound[0].health.ready", ""},
		{change{"a label of a Dataplane", together(policy, dp), "labels: {app: web}\nnet", "labels: {app: web, a: b}\nnet"}, "", "Dataplane default/web labels.a"},
		{change{"a tag and the health of a Dataplane", together(policy, dp), "tags: {kuma.io/service: web}, health: {ready: true}", "tags: {kuma.io/service: web, a: b}"}, "Dataplane default/web networking.inbound[0].health", "Dataplane default/web networking.inbound[0].tags.a"},
		{change{"a new Dataplane", policy, "", dp}, "", "Dataplane default/web is new"},
		{change{"the same workload twice, and alike", together(policy, deployment), "", deployment}, "Deployment shop/web is there another number of times", ""},
		{change{"the same workload twice, and not alike", policy, of("v1", "Event", "a: b"), together(of("v1", "Event", "a: b"), of("v1", "Event", "a: c"))}, "Event shop/n is there twice, and not alike", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			old, recent := tt.sides(t)
			beside := manifestdiff.Compare(old, recent, false)
			if got := textsOf(beside.Passed); got != tt.want {
				t.Errorf("passed %q, want %q", got, tt.want)
			}
			if got := textsOf(beside.Compared); got != tt.compared {
				t.Errorf("compared %q, want %q", got, tt.compared)
			}
		})
	}
}

// Nothing differs from itself, and each difference is on both ways from one side to the other.
func TestPassedIsComplete(t *testing.T) {
	t.Parallel()
	all := sideOf(t, together(policy, deployment, service, serviceAccount))
	if beside := manifestdiff.Compare(all, all, false); len(beside.Changes)+len(beside.Passed)+len(beside.Compared) > 0 {
		t.Errorf("%v", beside)
	}
	for i := range all.Others {
		without := all
		without.Others = slices.Delete(slices.Clone(all.Others), i, i+1)
		for _, symmetric := range []bool{false, true} {
			for _, pair := range [][2]manifestdiff.Side{{all, without}, {without, all}} {
				if beside := manifestdiff.Compare(pair[0], pair[1], symmetric); len(beside.Changes)+len(beside.Passed) != 1 {
					t.Errorf("document %d: %v", i, beside)
				}
			}
		}
	}
}

// Files that are not read are held against each other by what stands for their content.
func TestPassedFiles(t *testing.T) {
	t.Parallel()
	old := map[string]string{"a": "1", "b": "1", "c": "1", "e": ""}
	recent := map[string]string{"a": "1", "b": "2", "d": "1", "e": ""}
	want := "file b has changed; file c is gone; file d is new; file e leads out of the folder, or is no file, and cannot be compared"
	if got := textsOf(manifestdiff.RestOf(old, recent)); got != want {
		t.Errorf("%q", got)
	}
}

// Cases are compared without their policies, which others compare.
func TestPassedCases(t *testing.T) {
	t.Parallel()
	side := func(text string) manifestdiff.Side {
		return manifestdiff.Side{Cases: parse(t, "c.yaml", text)}
	}
	old := side("case: a\nrequests: [b]\npolicies: [c]\n---\ncase: d\n")
	recent := side("case: a\nrequests: [e]\npolicies: [f]\n")
	if got := textsOf(manifestdiff.Compare(old, recent, false).Compared); got != "case case/a requests[0]; case case/d is gone" {
		t.Errorf("%q", got)
	}
}

// Thousands of documents take no time that grows with the square of their number.
func TestPassedOfManyDocuments(t *testing.T) {
	t.Parallel()
	text := func(image string) string {
		var b strings.Builder
		for i := range 2000 {
			fmt.Fprintf(&b, "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: n%d, namespace: shop}\nspec: {replicas: 1, template: {metadata: {labels: {app: n%d}}, spec: {containers: [{name: a, image: %s}]}}}\n", i, i, image)
		}
		return b.String()
	}
	old, recent := sideOf(t, text("a")), sideOf(t, text("b"))
	began := time.Now()
	if n := len(manifestdiff.Compare(old, recent, false).Passed); n != 2000 {
		t.Errorf("%d objects", n)
	}

	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
}
