package kinds

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/policy/manifest"
)

// podHeads are the places of the labels of pods, and of the workloads outside of Kubernetes.
var podHeads = []string{"spec.template.metadata", "spec.jobTemplate.spec.template.metadata", "spec.metadata", "spec", "metadata"}

// podSpecs are the places of what else an object says of its pods.
var podSpecs = []string{"spec.template.spec", "spec.jobTemplate.spec.template.spec", "spec.template", "spec"}

// tools are annotations by which other tools leave an object out, or apply it only for a while.
var tools = []string{"argocd.argoproj.io/hook", "argocd.argoproj.io/sync-options", "helm.sh/hook", "config.kubernetes.io/local-config", "kustomize.toolkit.fluxcd.io/reconcile", "kustomize.toolkit.fluxcd.io/ssa"}

// ChangedWorkloads says what two sets of documents say otherwise of one workload, so that other
// policies select it, or that it calls as somebody else: the labels and the named ports that a policy
// names, the service account, the network of the host, and what a Service says of the protocol of a port.
// An object of one side alone is no change.
func ChangedWorkloads(old, recent Others, policies []manifest.Document) (out []string) {
	if len(old) == 0 || len(recent) == 0 {
		return nil
	}
	words := wordsOf(policies)
	olds, recents := old.workloads(words), recent.workloads(words)
	for _, side := range [][2][]setting{{recents, olds}, {olds, recents}} {
		isThere := map[string]bool{}
		for _, other := range side[1] {
			isThere[other.object] = true
		}
		for _, s := range missing(side[0], side[1]) {
			if isThere[s.object] {
				out = append(out, s.String())
			}
		}
	}
	return out
}

// ChangedTools says which policies of one side have an annotation for a tool that may not apply them,
// and do not have it on the other side.
func ChangedTools(old, recent []manifest.Document) (out []string) {
	olds, recents := toolSettings(old), toolSettings(recent)
	for _, s := range slices.Concat(missing(recents, olds), missing(olds, recents)) {
		out = append(out, s.String())
	}
	return out
}

func toolSettings(docs []manifest.Document) (out []setting) {
	for _, doc := range docs {
		values := mapAt(doc, "metadata.annotations")
		for _, key := range tools {
			if value, ok := values[key]; ok {
				out = append(out, setting{objectOf(doc), fmt.Sprintf("annotation %s=%v", key, value), doc})
			}
		}
	}
	return out
}

// wordsOf returns the keys, labels and names that policies may ask for. A label of a namespace has a
// prefix in a policy of Cilium.
func wordsOf(policies []manifest.Document) func(word string) bool {
	known := map[string]bool{}
	for _, doc := range policies {
		for _, word := range strings.FieldsFunc(doc.Flow(), func(r rune) bool { return strings.ContainsRune(`{}[]",': `, r) }) {
			_, label, _ := strings.Cut(word, "namespace.labels.")
			known[word], known[label] = true, true
		}
	}
	return func(word string) bool { return word != "" && known[word] }
}

func (o Others) workloads(isNamed func(string) bool) (out []setting) {
	for _, doc := range o {
		object := objectOf(doc)
		if doc.Type() == (manifest.Head{APIVersion: "v1", Kind: "Service"}) {
			out = append(out, servicePorts(doc, object)...)
			continue
		}
		add := func(format string, args ...any) {
			out = append(out, setting{object, fmt.Sprintf(format, args...), doc})
		}
		for _, head := range podHeads {
			labels := mapAt(doc, head+".labels")
			for _, key := range slices.Sorted(maps.Keys(labels)) {
				if isNamed(key) {
					add("label %s=%v", key, labels[key])
				}
			}
		}
		var account, network any
		for _, at := range podSpecs {
			pods := mapAt(doc, at)
			account = cmp.Or(account, pods["serviceAccountName"], pods["serviceAccount"])
			network = cmp.Or(network, pods["hostNetwork"])
			for _, container := range listOf(pods["containers"]) {
				for _, port := range listOf(container["ports"]) {
					if name := fmt.Sprint(port["name"]); isNamed(name) {
						add("port %s=%v", name, port["containerPort"])
					}
				}
			}
		}
		add("service account %v", cmp.Or(account, any("default")))
		add("hostNetwork %v", cmp.Or(network, any(false)))
	}
	return out
}

// servicePorts returns what tells Istio and Kuma the protocol of a port. A port is an object of its own.
func servicePorts(doc manifest.Document, object string) (out []setting) {
	for _, port := range listOf(mapAt(doc, "spec")["ports"]) {
		text := fmt.Sprintf("name %v, appProtocol %v, targetPort %v", port["name"], port["appProtocol"], cmp.Or(port["targetPort"], port["port"]))
		out = append(out, setting{fmt.Sprintf("port %v of %s", port["port"], object), text, doc})
	}
	return out
}

// mapAt returns the mapping at a field, nil where there is none.
func mapAt(doc manifest.Document, field string) (out map[string]any) {
	if at, ok := doc.Lookup(field); !ok || at.Decode(&out) != nil {
		return nil
	}
	return out
}

// listOf returns the mappings in a list.
func listOf(value any) (out []map[string]any) {
	list, _ := value.([]any)
	for _, item := range list {
		if one, ok := item.(map[string]any); ok {
			out = append(out, one)
		}
	}
	return out
}
