package podtemplate

import (
	"maps"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/fieldpath"
	"github.com/meshproof/meshproof/internal/fieldvalue"
	"github.com/meshproof/meshproof/policy/manifest"
)

// PeerLabel is a label by which a policy of Cilium names callers or callees of one namespace.
type PeerLabel struct {
	Namespace, Key, Value string
	// Place is "file:line: field" of the value, and Policy the policy that has it.
	Place, Policy string
}

// PeerLabels returns the labels by which policies of Cilium name callers and callees, but for those that Cilium makes by itself. Peers of all
// namespaces are left out.
func PeerLabels(policies []manifest.Document) (out []PeerLabel) {
	for _, doc := range policies {
		d := read(doc)
		if d.Group != "cilium.io" {
			continue
		}
		own := d.ownNamespace()
		d.eachValue(func(field, key string, value any) {
			selector := fieldvalue.Mapping(value)
			labels, ok := selector["matchLabels"].(map[string]any)
			if !ok || selector["matchExpressions"] != nil || key != "fromEndpoints" && key != "toEndpoints" {
				return
			}
			for _, l := range peerLabelsOf(labels, own) {
				l.Place, l.Policy = doc.Place(fieldpath.Child(fieldpath.Child(field, "matchLabels"), l.Key)), d.String()
				_, l.Key = cutSource(l.Key)
				out = append(out, l)
			}
		}, "spec", "specs")
	}
	return out
}

// peerLabelsOf returns the labels of one selector of peers, with their keys as they are written. It returns none where the selector is about all namespaces.
func peerLabelsOf(labels map[string]any, own string) (out []PeerLabel) {
	namespace := own
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		value, ok := labels[key].(string)
		source, bare := cutSource(key)
		switch {
		case !ok:
		case bare == CiliumNamespace:
			namespace = value
		case source == "reserved", strings.HasPrefix(bare, "io."):
		default:
			out = append(out, PeerLabel{Key: key, Value: value})
		}
	}
	if namespace == "" {
		return nil
	}
	for i := range out {
		out[i].Namespace = namespace
	}
	return out
}

// cutSource parts the key of a label from the source in front of it, as in k8s:app.
func cutSource(key string) (source, bare string) {
	if source, bare, found := strings.Cut(key, ":"); found {
		return source, bare
	}
	return "", key
}
