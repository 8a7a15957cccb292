package podtemplate_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/meshproof/meshproof/internal/podtemplate"
	"github.com/meshproof/meshproof/policy/manifest"
)

func parse(t *testing.T, text string) []manifest.Document {
	t.Helper()
	docs, err := manifest.Parse("a.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return docs
}

// TestTemplates has kinds with pods in each of their places, and one without.
func TestTemplates(t *testing.T) {
	t.Parallel()
	const of = "{metadata: {labels: {app: web}}, spec: {serviceAccountName: a}}"
	for name, tt := range map[string]struct{ text, want string }{
		"a Pod":                {"{kind: Pod, metadata: {name: p, namespace: shop, labels: {app: web}}, spec: {}}", "Pod shop/p true default map[app:web]"},
		"a Deployment":         {"{kind: Deployment, metadata: {name: d}, spec: {template: " + of + "}}", "Deployment default/d false a map[app:web]"},
		"a CronJob":            {"{kind: CronJob, metadata: {name: c}, spec: {jobTemplate: {spec: {template: " + of + "}}}}", "CronJob default/c false a map[app:web]"},
		"an old field":         {"{kind: Pod, metadata: {name: p}, spec: {serviceAccount: b}}", "Pod default/p false b map[]"},
		"a machine":            {"{apiVersion: networking.istio.io/v1, kind: WorkloadEntry, metadata: {name: m}, spec: {labels: {app: db}, serviceAccount: c}}", "WorkloadEntry default/m false c map[app:db]"},
		"a kind without pods":  {"{kind: Service, metadata: {name: s}, spec: {template: " + of + "}}", ""},
		"labels that are none": {"{kind: Pod, metadata: {name: p, labels: [a]}}", "Pod default/p false default map[]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ""
			for _, of := range podtemplate.Templates(parse(t, tt.text)) {
				got += fmt.Sprint(of.Object, " ", of.Placed, " ", of.Account, " ", of.Labels)
			}
			if got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// TestMakesPods has documents by which there may be pods that no file shows, and others.
func TestMakesPods(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {namespace: flux, name: a}, spec: {targetNamespace: shop}}": "[flux shop] false",
		"{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: a}, spec: {destination: {namespace: shop}}}":              "[shop] false",
		"{apiVersion: argoproj.io/v1alpha1, kind: Rollout, metadata: {name: a, namespace: shop}}":                                         "[] false",
		"{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, namespace: shop}}":                                                   "[] false",
		"{apiVersion: example.com/v1, kind: Shop, metadata: {name: a, namespace: shop}}":                                                  "[shop] false",
		"{type: MeshRetry, mesh: m, name: a}":                                                            "[] false",
		"{apiVersion: kustomize.config.k8s.io/v1beta1, kind: Kustomization, resources: [a.yaml]}":        "[] false",
		"{apiVersion: kustomize.config.k8s.io/v1beta1, kind: Kustomization, resources: [../a]}":          "[] true",
		"{apiVersion: kustomize.config.k8s.io/v1beta1, kind: Kustomization, patches: [{path: a.yaml}]}":  "[] true",
		"{apiVersion: kustomize.config.k8s.io/v1beta1, kind: Kustomization, resources: ['https://a/b']}": "[] true",
	} {
		namespaces, everywhere := podtemplate.MakesPods(parse(t, text)[0])
		if got := fmt.Sprint(namespaces, everywhere); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestServicePorts has a Service whose port is none of the pods.
func TestServicePorts(t *testing.T) {
	t.Parallel()
	const pod = "{kind: Pod, metadata: {name: p, namespace: shop, labels: {app: web}}, spec: {containers: [{ports: [{name: http, containerPort: 8080}]}]}}"
	for name, tt := range map[string]struct{ service, want string }{
		"another number":       {"selector: {app: web}, ports: [{port: 80, targetPort: 8080}]", "map[80:{Service shop/s 8080}]"},
		"by the name":          {"selector: {app: web}, ports: [{port: 80, targetPort: http}]", "map[80:{Service shop/s 8080}]"},
		"the same number":      {"selector: {app: web}, ports: [{port: 8080}]", "map[]"},
		"a name of no port":    {"selector: {app: web}, ports: [{port: 80, targetPort: grpc}]", "map[]"},
		"another workload":     {"selector: {app: db}, ports: [{port: 80, targetPort: 8080}]", "map[]"},
		"no selector":          {"ports: [{port: 80, targetPort: 8080}]", "map[]"},
		"a port that pods may": {"selector: {app: web}, ports: [{port: 80, targetPort: 8080}, {port: 81, targetPort: 80}]", "map[81:{Service shop/s 80}]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			of := podtemplate.Templates(parse(t, pod))[0]
			services := podtemplate.ServicesOf(parse(t, "{apiVersion: v1, kind: Service, metadata: {name: s, namespace: shop}, spec: {"+tt.service+"}}"))
			if got := fmt.Sprint(of.ServicePorts(services)); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
			if names, known := of.PortNames(); !known || !slices.Equal(names, []string{"http"}) {
				t.Errorf("the ports have the names %v, %t", names, known)
			}
		})
	}
}
