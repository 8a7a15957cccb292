package lint

import (
	"fmt"

	"github.com/meshproof/meshproof/internal/metadata"
	"github.com/meshproof/meshproof/policy/kuma/internal/resource"
	"github.com/meshproof/meshproof/policy/manifest"
)

// newer is a part of policies that Kuma 2.14 has, and Kuma 3.0 not, or otherwise (its UPGRADE.md, as of August 2026).
type newer struct {
	// says is what Kuma 3.0 makes of it.
	says string
	// find returns the fields with the part.
	find func(doc manifest.Document) []string
}

// newerParts are all such parts.
var newerParts = []newer{
	{"Kuma 3.0 has no name in a targetRef: the field is lost, and the policy is for every Dataplane: select by labels", func(doc manifest.Document) []string {
		const at = "spec.targetRef"
		if metadata.TextAt(doc, at+".kind") != "Dataplane" || metadata.TextAt(doc, at+".name") == "" {
			return nil
		}
		return []string{at + ".name"}
	}},
	ofKind("MeshSubset"), ofKind("MeshService"), ofKind("MeshServiceSubset"),
	{"Kuma 3.0 has no from: a MeshTrafficPermission of it alone is refused, and its denies are lost as its allows are: write rules", func(doc manifest.Document) []string {
		if _, ok := doc.Lookup("spec.from"); !ok {
			return nil
		}
		return []string{"spec.from"}
	}},
	{"Kuma 3.0 has no name in a targetRef of to: the field is lost, and what is left is refused: select by labels", eachTo(func(doc manifest.Document, at string) bool {
		return metadata.TextAt(doc, at+".name") != ""
	})},
	{"Kuma 3.0 takes a policy whose items ask for kuma.io/display-name alone for a producer's, so that it is about the callers of all namespaces; 2.14 takes it for a consumer's", eachTo(func(doc manifest.Document, at string) bool {
		labels, ok := doc.Lookup(at + ".labels")
		var stated map[string]string
		if !ok || labels.Decode(&stated) != nil || stated[resource.LabelDisplayName] == "" {
			return false
		}
		delete(stated, resource.LabelDisplayName)
		delete(stated, resource.LabelNamespace)
		return len(stated) == 0
	})},
}

func ofKind(kind string) newer {
	return newer{fmt.Sprintf("Kuma 3.0 takes no targetRef of kind %s, and refuses the policy: write kind Dataplane and labels", kind), func(doc manifest.Document) []string {
		if metadata.TextAt(doc, "spec.targetRef.kind") != kind {
			return nil
		}
		return []string{"spec.targetRef.kind"}
	}}
}

// eachTo returns the targetRefs of to that a function takes.
func eachTo(takes func(doc manifest.Document, at string) bool) func(manifest.Document) []string {
	return func(doc manifest.Document) (out []string) {
		list, ok := doc.Lookup("spec.to")
		var items []manifest.Document
		if !ok || list.Decode(&items) != nil {
			return nil
		}
		for i := range items {
			if at := fmt.Sprintf("spec.to[%d].targetRef", i); takes(doc, at) {
				out = append(out, at)
			}
		}
		return out
	}
}

// NewerTargets returns a text for each kind of part that Kuma 3.0 does not have, or reads otherwise, with its first place and what becomes
// of it there.
func NewerTargets(docs []manifest.Document) (out []string) {
	for _, part := range newerParts {
		var places []string
		for _, doc := range docs {
			for _, field := range part.find(doc) {
				places = append(places, doc.Place(field))
			}
		}
		if len(places) == 0 {
			continue
		}
		at := places[0]
		if more := len(places) - 1; more > 0 {
			at += fmt.Sprintf(" and %d more", more)
		}
		out = append(out, at+": "+part.says)
	}
	return out
}
