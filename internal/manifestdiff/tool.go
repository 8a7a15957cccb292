package manifestdiff

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/fieldpath"
	"github.com/meshproof/meshproof/internal/fieldvalue"
	"github.com/meshproof/meshproof/internal/metadata"
	"github.com/meshproof/meshproof/internal/rendering"
)

// isOfTool reports whether a tool reads a label of that key. Helm writes the name of a chart.
func isOfTool(key string) bool {
	return !clusterobject.IsIdleAnnotation(key) && key != "helm.sh/chart" && key != "argocd.argoproj.io/instance" && key != "kustomize.toolkit.fluxcd.io/name" && key != "kustomize.toolkit.fluxcd.io/namespace" &&
		clusterobject.IsOfToolDomain(clusterobject.DomainOf(key))
}

// idleLabels begin the labels with a domain by which no tool deletes a policy or leaves it out.
var idleLabels = []string{"app.kubernetes.io/", "kubernetes.io/", "helm.sh/chart", "argocd.argoproj.io/instance", "kustomize.toolkit.fluxcd.io/name", "gateway.networking.k8s.io/"}

// isOfUnknown reports whether a label of a policy has a domain that is not known: the tool that reads it may delete the policy, as
// kubectl does by applyset.kubernetes.io/part-of.
func isOfUnknown(key string) bool {
	return clusterobject.DomainOf(key) != "" && !fieldvalue.HasAnyPrefix(key, idleLabels)
}

// comparePolicies compares what no dialect reads of the policies: whether and how tools apply them, and which of
// two objects about the same is the older one.
func (c *comparison) comparePolicies() (out []Change) {
	before, after := c.oldPolicies, c.recentPolicies
	clusterobject.EachPair(before, after, func(olds, recents []clusterobject.Object) {
		for i := range max(len(olds), len(recents)) {
			var was, is clusterobject.Object
			if i < len(olds) {
				was = olds[i]
			}
			if i < len(recents) {
				is = recents[i]
			}
			found := c.comparePolicy(was, is)
			c.told.add(slices.Concat(recents, olds)[0].Key, found)
			out = append(out, found...)
		}
	})
	differ := c.policiesDiffer()
	if differ {
		// A policy that is not applied hides nothing that another one lets in now.
		applied := after.All
		if c.symmetric {
			applied = slices.Concat(before.All, after.All)
		}
		for _, o := range applied {
			if hasToolSettings(o) || rendering.IsTakenFile(o.File()) {
				out = append(out, changeOf(o, mayBeIdle))
			}
			if field, why := metadata.SettingsProblem(o.Doc); field != "" && !o.Universal {
				out = append(out, Change{o.Doc.Place(field), o.String(), "is refused by an API server, and policies have changed: " + why})
			}
		}
		out = append(out, c.compareAssumed(before, after)...)
	}
	if differ || c.filesDiffer() {
		out = append(out, c.compareKustomized(after)...)
		out = append(out, c.compareDeliveries()...)
	}
	out = append(out, c.compareUnplaced(before, after)...)
	out = append(out, compareAges(before, after, clusterobject.Object.IsOfLinkerd, func(a, b clusterobject.Object) bool { return a.Kind == b.Kind })...)
	out = append(out, compareModes(before, after)...)
	isService := func(o clusterobject.Object) bool { return o.Category == clusterobject.Service }
	return append(out, compareAges(c.oldObjects, c.recentObjects, isService, sharePods)...)
}

// syncWave says when Argo CD applies an object: where something of an earlier wave fails, it does not.
const syncWave = "argocd.argoproj.io/sync-wave"

// hasWaves reports whether some of the objects are applied later than others.
func hasWaves(all clusterobject.List) bool {
	wave := func(o clusterobject.Object) string {
		return fmt.Sprint(fieldvalue.Lookup(o.Fields, "metadata", "annotations", syncWave))
	}
	return slices.ContainsFunc(all.All, func(o clusterobject.Object) bool { return wave(o) != wave(all.All[0]) })
}

const mayBeIdle = "may not be applied by a tool, and policies have changed"

// hasToolSettings reports whether a label or an annotation is of a tool.
func hasToolSettings(o clusterobject.Object) bool {
	for _, field := range []string{"labels", "annotations"} {
		settings := fieldvalue.Mapping(fieldvalue.Lookup(o.Fields, "metadata", field))
		for key := range settings {
			if isOfTool(key) {
				return true
			}
		}
	}
	return false
}

// settingMatters reports whether a label or an annotation of a policy may keep it away. No workload has the labels of a policy.
func (c *comparison) settingMatters(of clusterobject.Object, field, key string, old, recent any) bool {
	if isOfTool(key) {
		return true
	}
	if field == "annotations" {
		w := walker{comparison: c, kind: of.Kind}
		return w.matters(false, key, old, recent)
	}
	return isOfUnknown(key) || clusterobject.IsOfMesh(key) || c.programs.askFor(key)
}

// comparePolicy compares the labels and annotations of one policy; one of the two may be missing.
func (c *comparison) comparePolicy(was, is clusterobject.Object) (out []Change) {
	for _, field := range []string{"labels", "annotations"} {
		old := fieldvalue.Mapping(fieldvalue.Lookup(was.Fields, "metadata", field))
		recent := fieldvalue.Mapping(fieldvalue.Lookup(is.Fields, "metadata", field))
		for key := range union(old, recent) {
			isLater := key == syncWave && (was.Fields != nil && is.Fields != nil || is.Fields != nil && hasWaves(c.recentPolicies) || c.symmetric && hasWaves(c.oldPolicies)) // what comes later may never come
			if reflect.DeepEqual(old[key], recent[key]) || clusterobject.IsRead(key) || !c.settingMatters(is, field, key, old[key], recent[key]) && !isLater {
				continue
			}
			of := is
			if is.Name == "" || recent[key] == nil && is.Fields == nil {
				of = was
			}
			out = append(out, Change{of.Doc.Place(fieldpath.Child("metadata."+field, key)), of.String(), isChanged})
		}
	}
	if finalizers, _ := fieldvalue.Lookup(was.Fields, "metadata", "finalizers").([]any); is.Fields == nil && len(finalizers) > 0 {
		out = append(out, Change{was.Doc.Place("metadata.finalizers"), was.String(), "is gone, and stays as long as nobody takes them off"})
	}
	// An API server deletes an object whose owner is not there.
	owned, isOwned := fieldvalue.Lookup(was.Fields, "metadata", "ownerReferences") != nil, fieldvalue.Lookup(is.Fields, "metadata", "ownerReferences") != nil
	if isOwned && !owned {
		out = append(out, Change{is.Doc.Place("metadata.ownerReferences"), is.String(), isChanged})
	} else if c.symmetric && owned && !isOwned {
		out = append(out, Change{was.Doc.Place("metadata.ownerReferences"), was.String(), isAlone})
	}
	if old, recent := fieldvalue.Lookup(was.Fields, "metadata", "deletionTimestamp"), fieldvalue.Lookup(is.Fields, "metadata", "deletionTimestamp"); !reflect.DeepEqual(old, recent) && is.Fields != nil {
		out = append(out, Change{is.Doc.Place("metadata.deletionTimestamp"), is.String(), isChanged})
	}
	return out
}
