package manifestdiff

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/meshproof/meshproof/internal/fieldpath"
	"github.com/meshproof/meshproof/internal/fieldvalue"
	"github.com/meshproof/meshproof/internal/metadata"
	"github.com/meshproof/meshproof/internal/rendering"
)

// toolDomains end the domains of labels and annotations that other tools read.
var toolDomains = []string{"argoproj.io", "fluxcd.io", "k14s.io", "helm.sh", "configmanagement.gke.io", "configsync.gke.io", "fleet.cattle.io", "cattle.io", "kluctl.io", "config.k8s.io", "addonmanager.kubernetes.io", "config.kubernetes.io"}

// isOfTool reports whether a tool reads a label of that key. Helm writes the name of a chart.
func isOfTool(key string) bool {
	return !begins(key, harmlessAnnotations) && key != "helm.sh/chart" && key != "argocd.argoproj.io/instance" && key != "kustomize.toolkit.fluxcd.io/name" && key != "kustomize.toolkit.fluxcd.io/namespace" &&
		isWithin(domainOf(key), toolDomains)
}

// idleLabels begin the labels with a domain by which no tool deletes a policy or leaves it out.
var idleLabels = []string{"app.kubernetes.io/", "kubernetes.io/", "helm.sh/chart", "argocd.argoproj.io/instance", "kustomize.toolkit.fluxcd.io/name", "gateway.networking.k8s.io/"}

// isOfUnknown reports whether a label of a policy has a domain that is not known: the tool that reads it may delete the policy, as
// kubectl does by applyset.kubernetes.io/part-of.
func isOfUnknown(key string) bool { return domainOf(key) != "" && !begins(key, idleLabels) }

// readSettings are the labels and annotations of policies that their dialects read.
var readSettings = fields(`kuma.io/mesh kuma.io/zone kuma.io/origin kuma.io/display-name kuma.io/policy-role kuma.io/effect k8s.kuma.io/namespace istio.io/dry-run`)

// comparePolicies compares what no dialect reads of the policies: whether and how tools apply them, and which of
// two objects about the same is the older one.
func (c *comparison) comparePolicies() (out []Change) {
	before, after := c.oldPolicies, c.recentPolicies
	eachPair(before, after, func(olds, recents []object) {
		for i := range max(len(olds), len(recents)) {
			var was, is object
			if i < len(olds) {
				was = olds[i]
			}
			if i < len(recents) {
				is = recents[i]
			}
			found := c.comparePolicy(was, is)
			c.told.add(slices.Concat(recents, olds)[0].key, found)
			out = append(out, found...)
		}
	})
	differ := c.policiesDiffer()
	if differ {
		// A policy that is not applied hides nothing that another one lets in now.
		applied := after.all
		if c.symmetric {
			applied = slices.Concat(before.all, after.all)
		}
		for _, o := range applied {
			if o.hasToolSettings() || rendering.IsTakenFile(o.file()) {
				out = append(out, o.change(mayBeIdle))
			}
			if field, why := metadata.SettingsProblem(o.doc); field != "" && !o.universal {
				out = append(out, Change{o.doc.Place(field), o.String(), "is refused by an API server, and policies have changed: " + why})
			}
		}
		out = append(out, c.compareAssumed(before, after)...)
	}
	if differ || c.filesDiffer() {
		out = append(out, c.compareKustomized(after)...)
		out = append(out, c.compareDeliveries()...)
	}
	out = append(out, c.compareUnplaced(before, after)...)
	out = append(out, compareAges(before, after, object.isOfLinkerd, func(a, b object) bool { return a.kind == b.kind })...)
	out = append(out, compareModes(before, after)...)
	return append(out, compareAges(c.oldObjects, c.recentObjects, object.isService, sharePods)...)
}

// syncWave says when Argo CD applies an object: where something of an earlier wave fails, it does not.
const syncWave = "argocd.argoproj.io/sync-wave"

// hasWaves reports whether some of the objects are applied later than others.
func (all objects) hasWaves() bool {
	wave := func(o object) string {
		return fmt.Sprint(fieldvalue.Lookup(o.fields, "metadata", "annotations", syncWave))
	}
	return slices.ContainsFunc(all.all, func(o object) bool { return wave(o) != wave(all.all[0]) })
}

const mayBeIdle = "may not be applied by a tool, and policies have changed"

// hasToolSettings reports whether a label or an annotation is of a tool.
func (o object) hasToolSettings() bool {
	for _, field := range []string{"labels", "annotations"} {
		settings, _ := fieldvalue.Lookup(o.fields, "metadata", field).(map[string]any)
		for key := range settings {
			if isOfTool(key) {
				return true
			}
		}
	}
	return false
}

// settingMatters reports whether a label or an annotation of a policy may keep it away. No workload has the labels of a policy.
func (c *comparison) settingMatters(of object, field, key string, old, recent any) bool {
	if isOfTool(key) {
		return true
	}
	if field == "annotations" {
		w := walker{comparison: c, kind: of.kind}
		return w.matters(false, key, old, recent)
	}
	return isOfUnknown(key) || isOfMesh(key) || c.programs.askFor(key)
}

// comparePolicy compares the labels and annotations of one policy; one of the two may be missing.
func (c *comparison) comparePolicy(was, is object) (out []Change) {
	for _, field := range []string{"labels", "annotations"} {
		old, _ := fieldvalue.Lookup(was.fields, "metadata", field).(map[string]any)
		recent, _ := fieldvalue.Lookup(is.fields, "metadata", field).(map[string]any)
		for key := range union(old, recent) {
			isLater := key == syncWave && (was.fields != nil && is.fields != nil || is.fields != nil && c.recentPolicies.hasWaves() || c.symmetric && c.oldPolicies.hasWaves()) // what comes later may never come
			if reflect.DeepEqual(old[key], recent[key]) || readSettings[key] || !c.settingMatters(is, field, key, old[key], recent[key]) && !isLater {
				continue
			}
			of := is
			if is.name == "" || recent[key] == nil && is.fields == nil {
				of = was
			}
			out = append(out, Change{of.doc.Place(fieldpath.Child("metadata."+field, key)), of.String(), isChanged})
		}
	}
	if finalizers, _ := fieldvalue.Lookup(was.fields, "metadata", "finalizers").([]any); is.fields == nil && len(finalizers) > 0 {
		out = append(out, Change{was.doc.Place("metadata.finalizers"), was.String(), "is gone, and stays as long as nobody takes them off"})
	}
	// An API server deletes an object whose owner is not there.
	owned, isOwned := fieldvalue.Lookup(was.fields, "metadata", "ownerReferences") != nil, fieldvalue.Lookup(is.fields, "metadata", "ownerReferences") != nil
	if isOwned && !owned {
		out = append(out, Change{is.doc.Place("metadata.ownerReferences"), is.String(), isChanged})
	} else if c.symmetric && owned && !isOwned {
		out = append(out, Change{was.doc.Place("metadata.ownerReferences"), was.String(), isAlone})
	}
	if old, recent := fieldvalue.Lookup(was.fields, "metadata", "deletionTimestamp"), fieldvalue.Lookup(is.fields, "metadata", "deletionTimestamp"); !reflect.DeepEqual(old, recent) && is.fields != nil {
		out = append(out, Change{is.doc.Place("metadata.deletionTimestamp"), is.String(), isChanged})
	}
	return out
}
