package manifestdiff

import (
	"path/filepath"
	"slices"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/fieldvalue"
)

// isAuthority reports whether a Secret has the authority of an issuer that a mesh may use.
func (c *comparison) isAuthority(o clusterobject.Object) bool {
	return slices.ContainsFunc(c.objects(), func(issuer clusterobject.Object) bool {
		name, _ := fieldvalue.Lookup(issuer.Fields, "spec", "ca", "secretName").(string)
		return issuer.Group == "cert-manager.io" && name != "" && slices.Contains(o.Secrets(), name) && (issuer.Category != clusterobject.Config || c.isUsed(issuer))
	})
}

// isHarmless reports whether nothing about an object matters, in the light of all documents of its side.
func (c *comparison) isHarmless(all []clusterobject.Object, own, other workloads) bool {
	for _, o := range all {
		switch o.Category {
		case clusterobject.Harmless:
			if c.sendsToken(o) || c.makesUsed(o) || o.IsOfGateway() && c.attached || o.IsEndpoints() && !c.isSelected(o) || o.Kind == "PersistentVolumeClaim" && asksFor(c.disks, o.Fields) {
				return false
			}
		case clusterobject.Config:
			if o.IsOfSystem() || isForTool(o) || c.isAuthority(o) || slices.ContainsFunc(o.Secrets(), c.namesSecret) || c.setsVariable(o) || c.isParameter(o) || o.CarriesManifest() || o.Group == "cert-manager.io" && c.isUsed(o) {
				return false
			}
		case clusterobject.Unknown:
			// kubectl applies no document without a kind. Kustomize takes it for a patch, and Helm and Argo CD for values. What stands in
			// JSON alone, such as a dashboard, is of no tool here.
			if isOfRepository(o) && !c.namesFile(o) {
				continue
			}
			if o.Kind != "" || o.IsOfKustomize() || c.customized || c.tooled || filepath.Ext(o.File()) != ".json" {
				return false
			}
		case clusterobject.Workload:
			if !c.isOwned(o, own, other) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// isForTool reports whether a label says that a tool reads an object, such as the address of a cluster to which Argo CD applies.
func isForTool(o clusterobject.Object) bool {
	for key := range o.GivenLabels() {
		if isOfTool(key) {
			return true
		}
	}
	return false
}

// sendsToken reports whether an object names a Secret with the token of an account: what reads it, such as Prometheus, sends the
// token to a target that the object chooses.
func (c *comparison) sendsToken(o clusterobject.Object) bool {
	return fieldvalue.Any(o.Fields, func(value any) bool {
		name, _ := value.(string)
		return name != "" && (c.tokens[o.Namespace+"/"+name] || c.tokens["/"+name])
	})
}

// isSelected reports whether the Service of endpoints has a selector, so that a control plane writes them.
// Those that an author writes may name a workload, which then has the ports of the Service.
func (c *comparison) isSelected(endpoints clusterobject.Object) bool {
	name := endpoints.Name
	if endpoints.Kind == "EndpointSlice" {
		name, _ = fieldvalue.Lookup(endpoints.Fields, "metadata", "labels", "kubernetes.io/service-name").(string)
		if by := fieldvalue.Lookup(endpoints.Fields, "metadata", "labels", "endpointslice.kubernetes.io/managed-by"); by != "endpointslice-controller.k8s.io" {
			return false
		}
	}
	for _, o := range c.objects() {
		if o.Category == clusterobject.Service && o.Namespace == endpoints.Namespace && o.Name == name && fieldvalue.Lookup(o.Fields, "spec", "selector") != nil {
			return true
		}
	}
	return false
}
