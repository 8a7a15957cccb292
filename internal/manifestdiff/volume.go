package manifestdiff

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/fieldpath"
	"github.com/meshproof/meshproof/internal/fieldvalue"
)

// addVolumes adds the names of the volumes that go into a sidecar: what it mounts, and what an annotation of a
// mesh, or a template or a mutation in an unknown document, says of mounts.
func (c *comparison) addVolumes(o clusterobject.Object) {
	switch {
	case o.Category == clusterobject.Unknown && !o.HasKindOf(clusterobject.Workload):
		mounts := false
		fieldvalue.EachText(o.Fields, func(text string) { mounts = mounts || strings.Contains(text, "volumeMounts") })
		if fields, ok := o.Fields.(map[string]any); ok && mounts {
			for _, value := range fields {
				c.volumes.AddTexts(value)
			}
		}
	case o.Category == clusterobject.Workload:
		c.volumes.AddMeshAnnotations(o)
		spec := fieldvalue.Lookup(o.Fields, append(strings.Split(o.PodPlace(), "."), "spec")...)
		for _, container := range slices.Concat(fieldvalue.Mappings(fieldvalue.Lookup(spec, "containers")), fieldvalue.Mappings(fieldvalue.Lookup(spec, "initContainers"))) {
			if clusterobject.IsSidecar(container) {
				c.volumes.AddValue(container["volumeMounts"])
			}
		}
	case o.Category == clusterobject.Namespace:
		c.volumes.AddMeshAnnotations(o)
	}
}

// isVolumeOfSidecar reports whether a volume has a name under which a sidecar looks for its certificates and its
// configuration, or one that something gives to a sidecar.
func (w *walker) isVolumeOfSidecar(volume map[string]any) bool {
	name, _ := volume["name"].(string)
	return w.volumes.Has(name) || fieldvalue.HasAnyPrefix(name, []string{"workload-certs", "workload-socket", "credential-socket", "istio", "kuma-", "linkerd-"})
}

// givesVolume reports whether a field of a workload gives the volume of a sidecar to another container now, or
// puts a claim in its place: where both have one name, the claim counts.
func (w *walker) givesVolume(path string, was, is any) bool {
	if w.category != clusterobject.Workload || path != "spec.containers[].volumeMounts" && path != "spec.initContainers[].volumeMounts" && path != "spec.volumeClaimTemplates" {
		return false
	}
	names := func(value any) (out []string) {
		for _, item := range fieldvalue.Mappings(value) {
			name, _ := cmp.Or(fieldvalue.Lookup(item, "metadata", "name"), item["name"]).(string)
			if w.isVolumeOfSidecar(map[string]any{"name": name}) {
				out = append(out, name)
			}
		}
		slices.Sort(out)
		return out
	}
	return !slices.Equal(names(was), names(is))
}

// givers are the fields of a pod by which it gets the content of a Secret or of a volume.
var givers = fieldpath.SetOf("spec.volumeClaimTemplates spec.volumes[].ephemeral spec.volumes[].persistentVolumeClaim spec.volumes[].secret spec.volumes[].projected spec.containers[].env spec.containers[].envFrom spec.initContainers[].env spec.initContainers[].envFrom")

// certifies reports whether a volume gets a certificate of the pod from a signer, as a volume of a driver may.
func certifies(volume any) bool {
	return fieldvalue.Any(volume, func(value any) bool { return fieldvalue.Lookup(value, "podCertificate") != nil })
}

// givesToken reports whether a field of a pod names a Secret with the token of an account now, a claim of a folder of a node,
// or a signer. Whoever has the token calls as that account.
func (w *walker) givesToken(path string, was, is any) bool {
	if w.category != clusterobject.Workload || !givers[path] || reflect.DeepEqual(was, is) {
		return false
	}
	return certifies(is) || asksFor(w.disks, is) || w.namesToken(is) && !w.namesToken(was)
}

// namesToken reports whether a value has the name of such a Secret, or of such a claim.
func (w *walker) namesToken(value any) bool {
	return fieldvalue.Any(value, func(value any) bool {
		name, isText := value.(string)
		return isText && (w.tokens[w.namespace+"/"+name] || w.tokens["/"+name] || w.claims[w.namespace+"/"+name])
	})
}
