package manifestdiff

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/fieldpath"
	"github.com/meshproof/meshproof/internal/fieldvalue"
)

// makers are the kinds of workloads that make objects of another kind out of the pods that they describe.
var makers = map[string]map[string]bool{
	"Pod":        fieldpath.SetOf("DaemonSet Deployment Job ReplicaSet ReplicationController Rollout StatefulSet"),
	"ReplicaSet": fieldpath.SetOf("Deployment Rollout"),
	"Job":        fieldpath.SetOf("CronJob"),
}

// written are the labels that a controller writes into what it makes. One by which something selects counts.
var written = fieldpath.SetOf(`pod-template-hash controller-revision-hash pod-template-generation statefulset.kubernetes.io/pod-name
	apps.kubernetes.io/pod-index job-name controller-uid batch.kubernetes.io/job-name batch.kubernetes.io/controller-uid
	batch.kubernetes.io/job-completion-index rollouts-pod-template-hash topology.kubernetes.io/region topology.kubernetes.io/zone`)

// isOwned reports whether an object of one side is what a workload makes again and again: it is as the template
// of its owner has it, or another object of the same owner on the other side is like it in all that may matter.
// So what an injector adds passes where the other side has it too. An object that is no pod is asked this where
// the other side does not have it.
func (c *comparison) isOwned(o clusterobject.Object, own, other workloads) bool {
	made, found := own.byKey[o.Key]
	if !found || made.maker == "" || o.Kind != "Pod" && other.hasKey(o.Key) {
		return false
	}
	if of, owned := own.ownerOf(o); owned && len(c.deviations(of, made)) == 0 {
		return true
	}
	return !other.hasKey(o.Key) && slices.ContainsFunc(other.siblings(made.maker), func(of pods) bool { return len(c.deviations(of, made)) == 0 })
}

// siblings returns what a workload made, a few of each template: more of them are hardly otherwise, and there may
// be thousands.
func (w workloads) siblings(maker string) (out []pods) {
	const most = 4
	seen := map[string]int{}
	for _, p := range w.byMaker[maker] {
		template := fmt.Sprint(p.labels["pod-template-hash"], p.labels["controller-revision-hash"])
		if seen[template]++; seen[template] <= most {
			out = append(out, p)
		}
	}
	return out
}

// ownerOf returns the pods of the workload that made an object.
func (w workloads) ownerOf(o clusterobject.Object) (pods, bool) {
	kind, name := o.Controller()
	of, found := w.byName[[3]string{kind, o.Namespace, name}]
	return of, found && makers[o.Kind][kind]
}

// numbered is the name of a Job that a CronJob made.
var numbered = regexp.MustCompile(`-[0-9]+$`)

// makerOf is the same for all objects that one workload makes, whatever the hash or the number in the names of
// what stands between them. It is "" where nothing made the object.
func makerOf(o clusterobject.Object, labels map[string]any) string {
	kind, name := o.Controller()
	if !makers[o.Kind][kind] || name == "" {
		return ""
	}
	switch hash, _ := labels["pod-template-hash"].(string); {
	case kind == "ReplicaSet" && hash != "":
		name = strings.TrimSuffix(name, "-"+hash)
	case kind == "Job":
		name = numbered.ReplaceAllString(name, "")
	}
	return strings.Join([]string{o.Kind, o.Namespace, kind, name}, " ")
}

// deviations returns what may matter of the differences between two descriptions of pods. Their names do not.
func (c *comparison) deviations(a, b pods) []finding {
	w := walker{comparison: c, category: clusterobject.Workload, kind: "Pod", namespace: b.namespace, owned: true}
	w.walk("", "", c.asTemplate(a), c.asTemplate(b))
	if clusterobject.IsOfSystem(b.namespace) && a.programs() != b.programs() {
		w.find("spec.containers", nil, nil) // what runs there counts by what it does
	}
	return w.found
}

// programs has what the containers of pods run.
func (p pods) programs() string {
	var out []any
	for _, list := range []string{"containers", "initContainers"} {
		for _, container := range fieldvalue.Mappings(p.spec[list]) {
			out = append(out, container["image"], container["command"], container["args"])
		}
	}
	return fmt.Sprint(out...)
}

// asTemplate returns pods without what a controller and the scheduler write.
func (c *comparison) asTemplate(p pods) map[string]any {
	labels := maps.Clone(p.labels)
	maps.DeleteFunc(labels, func(key string, _ any) bool { return written[key] && !c.named.Has(key) })
	spec := maps.Clone(p.spec)
	delete(spec, "nodeName")
	if strings.Contains(p.maker, " DaemonSet ") || p.kind == "DaemonSet" {
		delete(spec, "affinity") // each of its pods has the name of a node there
	}
	return map[string]any{"metadata": map[string]any{"labels": labels, "annotations": p.annotations}, "spec": spec}
}

// otherwise names what was found about the pods of an object.
func otherwise(o clusterobject.Object, found []finding, effect string) (out []Change) {
	for _, f := range found[:min(len(found), 3)] {
		place := o.PodPlace() + f.path
		if f.gone {
			place = ""
		}
		out = append(out, Change{o.Doc.Place(place), o.String(), effect})
	}
	if len(out) == 0 {
		out = append(out, changeOf(o, effect))
	}
	return out
}

// tokens is the volume that an API server adds to each pod, with five letters of its own in the name, and
// tokenFolder where each container has it.
var tokens = regexp.MustCompile(`^kube-api-access-[a-z0-9]{5}$`)

const tokenFolder = "/var/run/secrets/kubernetes.io/serviceaccount"

// withoutTokens returns the fields of a pod without that volume and its mounts.
func withoutTokens(spec map[string]any) map[string]any {
	added := map[string]bool{}
	volumes, _ := spec["volumes"].([]any)
	for _, volume := range fieldvalue.Mappings(volumes) {
		if name, _ := volume["name"].(string); tokens.MatchString(name) && isToken(volume) {
			added[name] = true
		}
	}
	if len(added) == 0 {
		return spec
	}
	spec["volumes"] = slices.DeleteFunc(slices.Clone(volumes), func(item any) bool { return added[nameOf(item)] })
	without := func(list []any) []any {
		return slices.DeleteFunc(slices.Clone(list), func(item any) bool {
			return added[nameOf(item)] && fieldvalue.Lookup(item, "mountPath") == tokenFolder
		})
	}
	for _, field := range []string{"containers", "initContainers"} {
		list, isList := spec[field].([]any)
		if !isList {
			continue
		}
		list = slices.Clone(list)
		for i, item := range list {
			container := fieldvalue.Mapping(item)
			if mounts, ok := container["volumeMounts"].([]any); ok {
				container = maps.Clone(container)
				if container["volumeMounts"] = without(mounts); len(without(mounts)) == 0 {
					delete(container, "volumeMounts")
				}
				list[i] = container
			}
		}
		spec[field] = list
	}
	return spec
}

// nameOf returns the name of an item of a list, "" where it has none.
func nameOf(item any) string {
	name, _ := fieldvalue.Lookup(item, "name").(string)
	return name
}

// isToken reports whether a volume has the pod's own token, and what goes with it alone.
func isToken(volume map[string]any) bool {
	sources := fieldvalue.Mappings(fieldvalue.Lookup(volume, "projected", "sources"))
	return len(sources) > 0 && !slices.ContainsFunc(sources, func(source map[string]any) bool {
		isNamespace := !slices.ContainsFunc(fieldvalue.Mappings(fieldvalue.Lookup(source, "downwardAPI", "items")), func(item map[string]any) bool { return item["path"] != "namespace" })
		return source["serviceAccountToken"] == nil && (source["downwardAPI"] == nil || !isNamespace) && fieldvalue.Lookup(source, "configMap", "name") != "kube-root-ca.crt"
	})
}
