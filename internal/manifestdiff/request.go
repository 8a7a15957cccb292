package manifestdiff

import "slices"

// changesRequests reports whether an object is a VirtualService by which a gateway changes requests: policies of
// the gateway judge a request as it came, and those of a workload judge what the gateway makes of it. Where
// sidecars change requests, the caller does so itself. A VirtualService without hosts is a part of another one.
func (o object) changesRequests() bool {
	if o.kind != "VirtualService" || o.group != "networking.istio.io" {
		return false
	}
	gateways, _ := fieldOf(o.fields, "spec", "gateways").([]any)
	isOfGateway := slices.ContainsFunc(gateways, func(gateway any) bool { return gateway != "mesh" }) || fieldOf(o.fields, "spec", "hosts") == nil
	changes := func(route map[string]any) bool {
		return route["rewrite"] != nil || fieldOf(route, "headers", "request") != nil
	}
	return isOfGateway && slices.ContainsFunc(mappings(fieldOf(o.fields, "spec", "http")), func(route map[string]any) bool {
		return changes(route) || slices.ContainsFunc(mappings(route["route"]), changes)
	})
}

// agents are the kinds of which an agent of Cilium writes each object.
var agents = fields("CiliumEndpoint CiliumIdentity CiliumNode")

// isWritten reports whether an author writes an object for which agents are there: no API server gave it. By
// such an object an address gets the name of another caller.
func (o object) isWritten() bool {
	return o.group == "cilium.io" && agents[o.kind] && fieldOf(o.fields, "metadata", "resourceVersion") == nil
}

// disks are the fields of a PersistentVolume that is no folder of a node.
var disks = fields(`capacity accessModes persistentVolumeReclaimPolicy storageClassName mountOptions volumeMode nodeAffinity claimRef volumeAttributesClassName
	csi nfs awsElasticBlockStore azureDisk azureFile cephfs cinder fc gcePersistentDisk iscsi rbd`)

// isOfNode reports whether a PersistentVolume may be a folder of a node.
func (o object) isOfNode() bool {
	spec, _ := fieldOf(o.fields, "spec").(map[string]any)
	for field := range spec {
		if o.kind == "PersistentVolume" && !disks[field] {
			return true
		}
	}
	return false
}

// hasWaypoint reports whether a ServiceEntry says to a mesh by a label who judges what is sent to it.
func (o object) hasWaypoint() bool {
	labels, _ := fieldOf(o.fields, "metadata", "labels").(map[string]any)
	for key := range labels {
		if o.kind == "ServiceEntry" && isOfMesh(key) {
			return true
		}
	}
	return false
}
