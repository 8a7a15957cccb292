package manifestdiff

import (
	"fmt"
	"maps"
	"slices"
	"strings"

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
	pods                     pods
}

// Templates returns the templates of the workloads among some documents, such as those of Deployments.
func Templates(docs []manifest.Document) (out []Template) {
	for _, doc := range docs {
		o := objectOf(doc)
		for _, p := range workloadsOf([]object{o}).all {
			t := Template{Object: o.String(), Placed: fieldOf(o.fields, "metadata", "namespace") != nil, Namespace: p.namespace, Name: p.name, Account: fmt.Sprint(normal("serviceAccountName", p.account)), Labels: map[string]string{}, pods: p}
			for key, value := range p.labels {
				t.Labels[key] = fmt.Sprint(value)
			}
			out = append(out, t)
		}
	}
	return out
}

// podlessGroups are API groups, beside those of policies, of which no object makes pods.
var podlessGroups = fields(`admissionregistration.k8s.io apiextensions.k8s.io apiregistration.k8s.io authorization.k8s.io certificates.k8s.io flowcontrol.apiserver.k8s.io
	gateway.networking.k8s.io image.toolkit.fluxcd.io kustomize.config.k8s.io node.k8s.io notification.toolkit.fluxcd.io security.istio.io source.toolkit.fluxcd.io`)

// labelFreeFields are the fields of a kustomization that change no label of a pod, and bring no workload of elsewhere.
var labelFreeFields = fields(`apiVersion buildMetadata commonAnnotations configMapGenerator generatorOptions images kind metadata namePrefix nameSuffix namespace
	replicas resources secretGenerator sortOptions`)

// MakesPods returns the namespaces in which a document may make pods that the files do not show, or change the labels of those that they
// show: such as a HelmRelease, or the resource of an operator. A kustomization with labels or patches may do so in all of them.
func MakesPods(doc manifest.Document) (namespaces []string, everywhere bool) {
	o := objectOf(doc)
	if o.isOfKustomize() {
		all, _ := o.fields.(map[string]any)
		isIdle := !slices.ContainsFunc(slices.Collect(maps.Keys(all)), func(field string) bool { return !labelFreeFields[field] })
		isRemote := slices.ContainsFunc(textsOf(all["resources"]), func(name string) bool {
			return strings.Contains(name, "//") || strings.Contains(name, "?") || strings.HasPrefix(name, "..")
		})
		return nil, !isIdle || isRemote
	}
	_, harmless := harmlessKinds[o.group]
	isKnown := harmless || podlessGroups[o.group] || o.category != unknown
	for _, kinds := range knownKinds {
		_, has := kinds[o.group]
		isKnown = isKnown || has && o.group != "argoproj.io"
	}
	if o.universal || isKnown {
		return nil, false
	}
	for _, field := range [][]string{{"metadata", "namespace"}, {"spec", "targetNamespace"}, {"spec", "destination", "namespace"}, {"spec", "template", "spec", "destination", "namespace"}} {
		if name, _ := fieldOf(o.fields, field...).(string); name != "" {
			namespaces = append(namespaces, name)
		}
	}
	return namespaces, false
}
