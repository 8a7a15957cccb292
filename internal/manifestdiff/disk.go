package manifestdiff

import "github.com/meshproof/meshproof/internal/fieldvalue"

// disks are the fields of a PersistentVolume that is no folder of a node.
var disks = fields(`capacity accessModes persistentVolumeReclaimPolicy storageClassName mountOptions volumeMode nodeAffinity claimRef volumeAttributesClassName
	csi nfs awsElasticBlockStore azureDisk azureFile cephfs cinder fc gcePersistentDisk iscsi rbd`)

// isOfNode reports whether a PersistentVolume may be a folder of a node.
func (o object) isOfNode() bool {
	spec, _ := fieldvalue.Lookup(o.fields, "spec").(map[string]any)
	for field := range spec {
		if o.kind == "PersistentVolume" && !disks[field] {
			return true
		}
	}
	return false
}

// disksOfNodes has the names of the PersistentVolumes that may be a folder of a node, and of their classes.
func (all objects) disksOfNodes() words {
	out := words{}
	for _, o := range all.all {
		if o.isOfNode() {
			class, _ := fieldvalue.Lookup(o.fields, "spec", "storageClassName").(string)
			out["volume "+o.name], out["class "+class] = true, true
		}
	}
	return out
}

// asksFor reports whether a value is what a claim says, or has it, and names one of these volumes or classes.
func (w words) asksFor(value any) bool {
	return fieldvalue.Any(value, func(value any) bool {
		volume, hasVolume := fieldvalue.Lookup(value, "volumeName").(string)
		class, hasClass := fieldvalue.Lookup(value, "storageClassName").(string)
		return hasVolume && w["volume "+volume] || hasClass && class != "" && w["class "+class]
	})
}

// claims returns the names of the claims of a folder of a node.
func (all objects) claims(disks words) (out []string) {
	for _, o := range all.all {
		name, _ := fieldvalue.Lookup(o.fields, "spec", "claimRef", "name").(string)
		in, _ := fieldvalue.Lookup(o.fields, "spec", "claimRef", "namespace").(string)
		if o.isOfNode() {
			out = append(out, in+"/"+name)
		}
		if o.kind == "PersistentVolumeClaim" && disks.asksFor(o.fields) {
			out = append(out, o.namespace+"/"+o.name)
		}
	}
	return out
}
