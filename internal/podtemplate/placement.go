package podtemplate

import "github.com/meshproof/meshproof/policy/manifest"

// Placement says in which namespaces the objects of a folder are.
type Placement struct {
	// OfPolicies are the namespaces that policies name, by the "file:line" of each; "" for one that names none.
	OfPolicies map[string]string
	// Policies counts the policies that name a namespace.
	Policies map[string]int
	// Others are the namespaces that other objects are of, or are.
	Others map[string]bool
	// IsChosen is true where a tool applies objects to a namespace that it names: then it may choose that of a policy which names none.
	IsChosen bool
}

// Placements returns the namespaces of policies and of other documents. It returns false where a kustomization may give them another one.
func Placements(policies, others []manifest.Document) (out Placement, known bool) {
	out = Placement{OfPolicies: map[string]string{}, Policies: map[string]int{}, Others: map[string]bool{}}
	for _, doc := range policies {
		if d := read(doc); d.IsNamespaced() {
			out.OfPolicies[doc.Place("")] = d.written()
			out.Policies[d.written()]++
		}
	}
	for _, doc := range others {
		d := read(doc)
		if d.isKustomization() && d.has("namespace") {
			return Placement{}, false
		}
		out.IsChosen = out.IsChosen || len(NamespacesAppliedTo(d.fields)) > 0
		if d.isOfCore("Namespace") {
			out.Others[d.Name] = true
		} else if namespace := d.written(); namespace != "" {
			out.Others[namespace] = true
		}
	}
	return out, true
}
