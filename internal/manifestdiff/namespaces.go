package manifestdiff

import "github.com/meshproof/meshproof/policy/manifest"

// Placement says in which namespaces the objects of a folder are.
type Placement struct {
	// OfPolicies are the namespaces that policies name, by the "file:line" of each; "" for one that names none.
	OfPolicies map[string]string
	// Policies counts the policies that name a namespace.
	Policies map[string]int
	// Others are the namespaces that other objects are of, or are.
	Others map[string]bool
}

// Placements returns the namespaces of policies and of other documents. It returns false where a kustomization may give them another one.
func Placements(policies, others []manifest.Document) (out Placement, known bool) {
	out = Placement{map[string]string{}, map[string]int{}, map[string]bool{}}
	for _, doc := range policies {
		if o := objectOf(doc); o.hasNamespace() {
			out.OfPolicies[doc.Place("")] = o.written()
			out.Policies[o.written()]++
		}
	}
	for _, doc := range others {
		o := objectOf(doc)
		if fields, _ := o.fields.(map[string]any); o.isOfKustomize() && fields["namespace"] != nil {
			return Placement{}, false
		}
		if o.kind == "Namespace" && o.group == "" {
			out.Others[o.name] = true
		} else if namespace := o.written(); namespace != "" {
			out.Others[namespace] = true
		}
	}
	return out, true
}
