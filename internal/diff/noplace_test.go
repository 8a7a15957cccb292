package diff

import (
	"strings"
	"testing"
)

// TestWideningWithoutPlace has an object that a tool places beside a control plane, and another one that nothing places: it may be there, too.
func TestWideningWithoutPlace(t *testing.T) {
	t.Parallel()
	const (
		cilium  = "{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: p, namespace: shop}, spec: {endpointSelector: {matchLabels: {app: web}}, ingress: [{fromEndpoints: [{matchLabels: {team: a}}]}]}}\n"
		plane   = "namespace: kube-system\nresources: [r.yaml]\n"
		issuer  = "{apiVersion: cert-manager.io/v1, kind: Issuer, metadata: {name: istio-ca}, spec: {ca: {secretName: authority}}}\n"
		reading = "{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: r}, rules: [{apiGroups: [''], resources: [secrets], resourceNames: [authority], verbs: [get]}]}\n"
		writing = "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: b}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: admin}, subjects: [{kind: ServiceAccount, name: a, namespace: default}]}\n"
		first   = "{apiVersion: v1, kind: Namespace, metadata: {name: x}}\n"
		pod     = "{apiVersion: v1, kind: Pod, metadata: {name: b, labels: {app: x}}, spec: {serviceAccountName: a, containers: [{name: a, image: a}]}}\n"
	)
	for name, tt := range map[string]struct {
		old, recent map[string]string
		want        string
	}{
		"a role for an authority":           {map[string]string{"i/i.yaml": issuer}, map[string]string{"k/r.yaml": reading}, "get secrets authority"},
		"a role for another Secret":         {nil, map[string]string{"k/r.yaml": reading}, ""},
		"an account with rights":            {map[string]string{"b/b.yaml": writing}, map[string]string{"o/o.yaml": pod}, "spec.serviceAccountName"},
		"an account with rights, and a pod": {map[string]string{"b/b.yaml": writing}, map[string]string{"k/r.yaml": strings.Replace(pod, "name: b", "name: c", 1), "o/o.yaml": pod}, "o/o.yaml:1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old := map[string]string{"p.yaml": cilium, "k/kustomization.yaml": plane, "x.yaml": first}
			recent := map[string]string{"p.yaml": cilium, "k/kustomization.yaml": plane, "x.yaml": first}
			for file, text := range tt.old {
				old[file], recent[file] = text, text
			}
			for file, text := range tt.recent {
				recent[file] = text
			}
			checkReasons(t, folderSide(t, old, ""), folderSide(t, recent, ""), tt.want)
		})
	}
}
