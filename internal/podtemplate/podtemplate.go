// Package podtemplate reads what the documents of a folder say of pods: the workloads that make them, the ports of Services that lead to them, and the accounts, labels and
// namespaces by which policies name them.
//
// It guarantees that it reads what is written, and names the documents by which more pods may be made; it carries out no kustomization and no chart.
package podtemplate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/fieldvalue"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Template is what a workload says of the pods that are made for it.
type Template struct {
	// Object is the kind, the namespace and the name of the workload.
	Object string
	// Namespace is "default" where the workload names none. Placed is false then: whoever applies it may choose another one.
	Namespace, Name, Account string
	Placed                   bool
	Labels                   map[string]string
	pods                     Pods
}

// Templates returns the templates of the workloads among some documents, such as those of Deployments.
func Templates(docs []manifest.Document) (out []Template) {
	for _, doc := range docs {
		d := read(doc)
		pods, known := PodsOf(d.Kind, d.fields)
		if d.Kind == "WorkloadEntry" && d.Group == "networking.istio.io" {
			pods, known = MachineOf(d.fields), true
		}
		if !known {
			continue
		}
		t := Template{Object: d.String(), Placed: fieldvalue.Lookup(d.fields, "metadata", "namespace") != nil, Namespace: d.Namespace, Name: d.Name, Account: "default", Labels: map[string]string{}, pods: pods}
		if pods.Account != nil {
			t.Account = fmt.Sprint(pods.Account)
		}
		for key, value := range pods.Labels {
			t.Labels[key] = fmt.Sprint(value)
		}
		out = append(out, t)
	}
	return out
}

// podlessGroups are API groups of which no object makes pods that the files do not show, but for those of podMakers.
var podlessGroups = strings.Fields(`admissionregistration.k8s.io apiextensions.k8s.io apiregistration.k8s.io apps authorization.k8s.io autoscaling autoscaling.k8s.io batch bitnami.com
	cert-manager.io certificates.k8s.io cilium.io coordination.k8s.io discovery.k8s.io events.k8s.io external-secrets.io flowcontrol.apiserver.k8s.io gateway.networking.k8s.io
	grafana.integreatly.org image.toolkit.fluxcd.io keda.sh kuma.io kustomize.config.k8s.io monitoring.coreos.com monitoring.googleapis.com networking.istio.io networking.k8s.io
	node.k8s.io notification.toolkit.fluxcd.io policy policy.linkerd.io rbac.authorization.k8s.io scheduling.k8s.io security.istio.io snapshot.storage.k8s.io
	source.toolkit.fluxcd.io storage.k8s.io telemetry.istio.io`)

// podMakers are the kinds of those groups whose objects a program makes pods of.
var podMakers = map[string][]string{
	"gateway.networking.k8s.io": {"Gateway"},
	"grafana.integreatly.org":   {"Grafana"},
	"keda.sh":                   {"ScaledJob"},
	"kuma.io":                   {"MeshGatewayInstance"},
	"monitoring.coreos.com":     {"Alertmanager", "Prometheus", "PrometheusAgent", "ThanosRuler"},
}

// labelFreeFields are the fields of a kustomization that change no label of a pod, and bring no workload of elsewhere.
var labelFreeFields = strings.Fields(`apiVersion buildMetadata commonAnnotations configMapGenerator generatorOptions images kind metadata namePrefix nameSuffix namespace
	replicas resources secretGenerator sortOptions`)

// MakesPods returns the namespaces in which a document may make pods that the files do not show, or change the labels of those that they
// show: such as a HelmRelease, or the resource of an operator. A kustomization with labels or patches may do so in all of them.
func MakesPods(doc manifest.Document) (namespaces []string, everywhere bool) {
	d := read(doc)
	if d.isKustomization() {
		all := fieldvalue.Mapping(d.fields)
		changes := slices.ContainsFunc(slices.Collect(maps.Keys(all)), func(field string) bool { return !slices.Contains(labelFreeFields, field) })
		isRemote := slices.ContainsFunc(fieldvalue.Texts(all["resources"]), func(name string) bool {
			return strings.Contains(name, "//") || strings.Contains(name, "?") || strings.HasPrefix(name, "..")
		})
		return nil, changes || isRemote
	}
	isRollout := d.Group == "argoproj.io" && d.Kind == "Rollout"
	if d.Universal || d.Group == "" || isRollout || slices.Contains(podlessGroups, d.Group) && !slices.Contains(podMakers[d.Group], d.Kind) {
		return nil, false
	}
	if own, _ := fieldvalue.Lookup(d.fields, "metadata", "namespace").(string); own != "" {
		namespaces = append(namespaces, own)
	}
	return append(namespaces, NamespacesAppliedTo(d.fields)...), false
}

// placing are the fields in which an object of Flux, Argo CD or Helm says to which namespace it applies others.
var placing = [][]string{{"spec", "targetNamespace"}, {"spec", "destination", "namespace"}, {"spec", "template", "spec", "destination", "namespace"}}

// NamespacesAppliedTo returns the namespaces to which an object with these fields applies others, beside its own.
func NamespacesAppliedTo(fields any) (namespaces []string) {
	for _, field := range placing {
		if name, _ := fieldvalue.Lookup(fields, field...).(string); name != "" {
			namespaces = append(namespaces, name)
		}
	}
	return namespaces
}
