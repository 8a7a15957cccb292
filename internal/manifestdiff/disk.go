package manifestdiff

import (
	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/fieldvalue"
	"github.com/meshproof/meshproof/internal/mention"
)

// disksOfNodes has the names of the PersistentVolumes that may be a folder of a node, and of their classes.
func disksOfNodes(all clusterobject.List) mention.Words {
	out := mention.Words{}
	for _, o := range all.All {
		if o.IsOfNode() {
			class, _ := fieldvalue.Lookup(o.Fields, "spec", "storageClassName").(string)
			out["volume "+o.Name], out["class "+class] = true, true
		}
	}
	return out
}

// asksFor reports whether a value is what a claim says, or has it, and names one of these volumes or classes.
func asksFor(w mention.Words, value any) bool {
	return fieldvalue.Any(value, func(value any) bool {
		volume, hasVolume := fieldvalue.Lookup(value, "volumeName").(string)
		class, hasClass := fieldvalue.Lookup(value, "storageClassName").(string)
		return hasVolume && w["volume "+volume] || hasClass && class != "" && w["class "+class]
	})
}

// claimsOf returns the names of the claims of a folder of a node.
func claimsOf(all clusterobject.List, disks mention.Words) (out []string) {
	for _, o := range all.All {
		name, _ := fieldvalue.Lookup(o.Fields, "spec", "claimRef", "name").(string)
		in, _ := fieldvalue.Lookup(o.Fields, "spec", "claimRef", "namespace").(string)
		if o.IsOfNode() {
			out = append(out, in+"/"+name)
		}
		if o.Kind == "PersistentVolumeClaim" && asksFor(disks, o.Fields) {
			out = append(out, o.Namespace+"/"+o.Name)
		}
	}
	return out
}
