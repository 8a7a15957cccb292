// Package clusterrole reads which rights the roles and bindings of a cluster give: the RBAC of Kubernetes.
//
// It guarantees that each right counts unless a table says that it lets nobody in past the policies; a role that no document describes
// gives such a right. It reads no other way to a right, such as the groups of a certificate.
package clusterrole

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/fieldpath"
	"github.com/meshproof/meshproof/internal/fieldvalue"
	"github.com/meshproof/meshproof/internal/mention"
)

// right is one verb for one resource that a role gives. The group of the core is "", and a wildcard is "*".
type right struct{ verb, group, resource, name string }

// idleRights are the verbs and resources that let nobody in past the policies, in the groups of idleGroups. The world is closed:
// each other verb, resource and group counts. Who writes what runs a pod runs it as any account of the namespace, and an
// unknown kind may make pods, apply manifests or sign certificates.
var idleRights = []struct{ verbs, resources map[string]bool }{
	{writing, fieldpath.SetOf(`events leases persistentvolumeclaims prometheusrules volumesnapshots telemetries`)},
	{fieldpath.SetOf(`create`), fieldpath.SetOf(`tokenreviews selfsubjectreviews subjectaccessreviews localsubjectaccessreviews
		selfsubjectaccessreviews selfsubjectrulesreviews`)},
}

// idleInNamespace are those that let nobody in where they are given for a namespace without a control plane: such a plane that does
// not run tells nobody of a new deny. A workload that is gone lets nobody in.
var idleInNamespace = append(slices.Clone(idleRights), []struct{ verbs, resources map[string]bool }{
	{writing, fieldpath.SetOf(`configmaps limitranges horizontalpodautoscalers verticalpodautoscalers scaledobjects poddisruptionbudgets`)},
	{fieldpath.SetOf(`update patch`), fieldpath.SetOf(`deployments/scale replicasets/scale statefulsets/scale replicationcontrollers/scale rollouts/scale`)},
	{fieldpath.SetOf(`delete deletecollection`), fieldpath.SetOf(`pods replicationcontrollers daemonsets deployments replicasets statefulsets cronjobs jobs rollouts`)},
	{fieldpath.SetOf(`create`), fieldpath.SetOf(`pods/eviction`)},
}...)

// idleGroups are the API groups of these resources. A rule may name several groups and several resources at once, so that it
// names some pairs that are not there. What writes a monitor sends any Secret of its namespace to a target that it chooses.
var idleGroups = fieldpath.SetOf(`core apps argoproj.io authentication.k8s.io authorization.k8s.io autoscaling autoscaling.k8s.io batch
	coordination.k8s.io events.k8s.io keda.sh monitoring.coreos.com policy scheduling.k8s.io snapshot.storage.k8s.io telemetry.istio.io`)

var (
	reading = fieldpath.SetOf(`get list watch`)
	writing = fieldpath.SetOf(`create update patch delete deletecollection`)
	// readParts are the parts of resources that say something to who reads them. Through any other one, such as exec or the console of
	// a virtual machine, a call may pass no sidecar, whatever the verb.
	readParts = fieldpath.SetOf(`finalizers healthz log metrics scale stats status`)
)

// Gain returns the first role or binding with a key that gives more than before of the rights by which callers may get in past the policies, and what it gives:
// "" where none does. Tokens are the Secrets with the token of an account, as namespace/name.
func Gain(before, after clusterobject.List, key string, tokens map[string]bool) (o clusterobject.Object, gained string) {
	for _, o := range after.ByKey[key] {
		if !strings.HasSuffix(o.Kind, "Binding") {
			if gained = addedBy(after, o, before, tokens); gained != "" {
				return o, gained
			}
			continue
		}
		was := map[string]bool{}
		for _, old := range before.ByKey[key] {
			for _, text := range given(before, old, tokens) {
				was[text] = true
			}
		}
		for _, text := range given(after, o, tokens) {
			if !was[text] {
				return o, text
			}
		}
	}
	return clusterobject.Object{}, ""
}

// addedBy says what a role gives that it did not give before, "" where that is nothing.
func addedBy(all clusterobject.List, o clusterobject.Object, before clusterobject.List, tokens map[string]bool) string {
	var had []right
	aggregated := map[string]bool{}
	for _, old := range before.ByKey[o.Key] {
		rights := rightsOf(old, tokens)
		had = append(had, rights...)
		if len(rights) > 0 {
			for _, label := range aggregations(before, old) {
				aggregated[label] = true
			}
		}
		aggregated[fmt.Sprint(fieldvalue.Lookup(old.Fields, "aggregationRule"))] = true
	}
	rights := rightsOf(o, tokens)
	for _, one := range rights {
		if !slices.ContainsFunc(had, func(old right) bool { return old.covers(one) }) {
			return one.String()
		}
	}
	if rule := fieldvalue.Lookup(o.Fields, "aggregationRule"); rule != nil && !aggregated[fmt.Sprint(rule)] {
		return fmt.Sprint("the rules of other roles, by ", rule)
	}
	for _, label := range aggregations(all, o) {
		if len(rights) > 0 && !aggregated[label] {
			return "its rules to whoever has another role, by the label " + label
		}
	}
	return ""
}

// aggregations are the labels of a role by which another one has its rules too.
func aggregations(all clusterobject.List, o clusterobject.Object) (out []string) {
	asked := mention.Words{}
	for _, role := range all.All {
		if role.IsOfRights() {
			asked.AddValue(fieldvalue.Lookup(role.Fields, "aggregationRule"))
		}
	}
	labels := fieldvalue.Mapping(fieldvalue.Lookup(o.Fields, "metadata", "labels"))
	for key, value := range labels {
		if strings.Contains(key, "aggregate") || asked.Has(key) {
			out = append(out, fmt.Sprintf("%s=%v", key, value))
		}
	}
	slices.Sort(out)
	return out
}

// rightsOf returns what the rules of a role give, but for what lets nobody in.
func rightsOf(o clusterobject.Object, tokens map[string]bool) (out []right) {
	idle := idleRights
	if o.Kind == "Role" && !clusterobject.IsOfSystem(o.Namespace) {
		idle = idleInNamespace
	}
	for _, rule := range fieldvalue.Mappings(fieldvalue.Lookup(o.Fields, "rules")) {
		names := fieldvalue.Texts(rule["resourceNames"])
		for _, group := range fieldvalue.Texts(rule["apiGroups"]) {
			for _, resource := range fieldvalue.Texts(rule["resources"]) {
				for _, verb := range fieldvalue.Texts(rule["verbs"]) {
					one := right{verb: verb, group: group, resource: resource}
					switch {
					case one.isIdle(idle):
					case len(names) == 0:
						out = append(out, one)
					case verb == "create" && !strings.Contains(resource, "/"): // no name bounds what is created, so that nothing is
					default:
						for _, name := range names {
							one.name = name
							if resource != "secrets" || !reading[verb] || o.Kind != "Role" || tokens[o.Namespace+"/"+name] || tokens["/"+name] || madeToken.MatchString(name) {
								out = append(out, one)
							}
						}
					}
				}
			}
		}
	}
	return out
}

// isIdle reports whether a right lets nobody in past the policies, as a list says it of those that write.
func (r right) isIdle(list []struct{ verbs, resources map[string]bool }) bool {
	resource, part, _ := strings.Cut(r.resource, "/")
	isWritten := func(verb string) bool {
		if (part == "status" || part == "finalizers") && (clusterobject.IsWithin(r.group, []string{"istio.io"}) || idleGroups[r.group]) {
			return true // what a controller says of its own work
		}
		return idleGroups[cmp.Or(r.group, "core")] && slices.ContainsFunc(list, func(idle struct{ verbs, resources map[string]bool }) bool {
			return idle.verbs[verb] && idle.resources[r.resource]
		})
	}
	isRead := (part == "" || readParts[part]) && r.resource != "*" && (resource != "secrets" || r.group != "" && r.group != "*")
	switch {
	case reading[r.verb]:
		return isRead || r.resource == "*" && r.group != "" && r.group != "*"
	case writing[r.verb]:
		return isWritten(r.verb)
	case r.verb == "*":
		for verb := range writing {
			if !isWritten(verb) {
				return false
			}
		}
		return isRead
	default:
		return false
	}
}

// covers reports whether a right gives another one too.
func (r right) covers(other right) bool {
	_, part, _ := strings.Cut(other.resource, "/")
	return (r.verb == other.verb || r.verb == "*") && (r.group == other.group || r.group == "*") && (r.name == other.name || r.name == "") &&
		(r.resource == other.resource || r.resource == "*" || part != "" && r.resource == "*/"+part)
}

// String says what a right is, as in "create pods/exec".
func (r right) String() string {
	text := r.verb + " " + r.resource
	if r.group != "" {
		text += "." + r.group
	}
	if r.name != "" {
		text += " " + r.name
	}
	return text
}

// madeToken is the name of a Secret that a control plane made for the token of an account, or no name at all.
var madeToken = regexp.MustCompile(`^$|-token-[a-z0-9]{5}$`)
