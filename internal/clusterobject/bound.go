package clusterobject

import (
	"regexp"

	"github.com/meshproof/meshproof/internal/fieldpath"
	"github.com/meshproof/meshproof/internal/fieldvalue"
)

// disks are the fields of a PersistentVolume that is no folder of a node.
var disks = fieldpath.SetOf(`capacity accessModes persistentVolumeReclaimPolicy storageClassName mountOptions volumeMode nodeAffinity claimRef volumeAttributesClassName
	csi nfs awsElasticBlockStore azureDisk azureFile cephfs cinder fc gcePersistentDisk iscsi rbd`)

// IsOfNode reports whether a PersistentVolume may be a folder of a node.
func (o Object) IsOfNode() bool {
	spec := fieldvalue.Mapping(fieldvalue.Lookup(o.Fields, "spec"))
	for field := range spec {
		if o.Kind == "PersistentVolume" && !disks[field] {
			return true
		}
	}
	return false
}

// idleQuota are the bounds of a ResourceQuota on what costs something, and on objects that are no policies.
var idleQuota = regexp.MustCompile(`^((requests|limits)\.\S+|cpu|memory|pods|storage|ephemeral-storage|hugepages-\S+|(\S+\.)?storageclass\.storage\.k8s\.io/\S+|persistentvolumeclaims|replicationcontrollers|resourcequotas|services(\.\w+)?|secrets|configmaps|` +
	`count/(pods|persistentvolumeclaims|services|secrets|configmaps|replicationcontrollers|(deployments|replicasets|statefulsets)\.apps|(jobs|cronjobs)\.batch|ingresses\.networking\.k8s\.io))$`)

// boundsPolicies reports whether a ResourceQuota may bound how many policies there are: an API server refuses one more, and that
// one may be a deny.
func (o Object) boundsPolicies() bool {
	bounds := fieldvalue.Mapping(fieldvalue.Lookup(o.Fields, "spec", "hard"))
	for name := range bounds {
		if o.Kind == "ResourceQuota" && o.Group == "" && !idleQuota.MatchString(name) {
			return true
		}
	}
	return false
}
