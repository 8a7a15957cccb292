package manifestdiff

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/fieldvalue"
)

// right is one verb for one resource that a role gives. The group of the core is "", and a wildcard is "*".
type right struct{ verb, group, resource, name string }

// idleRights are the verbs and resources that let nobody in past the policies, in the groups of idleGroups. The world is closed:
// each other verb, resource and group counts. Who writes what runs a pod runs it as any account of the namespace, and an
// unknown kind may make pods, apply manifests or sign certificates.
var idleRights = []struct{ verbs, resources map[string]bool }{
	{writing, fields(`events leases persistentvolumeclaims prometheusrules volumesnapshots telemetries`)},
	{fields(`create`), fields(`tokenreviews selfsubjectreviews subjectaccessreviews localsubjectaccessreviews
		selfsubjectaccessreviews selfsubjectrulesreviews`)},
}

// idleInNamespace are those that let nobody in where they are given for a namespace without a control plane: such a plane that does
// not run tells nobody of a new deny. A workload that is gone lets nobody in.
var idleInNamespace = append(slices.Clone(idleRights), []struct{ verbs, resources map[string]bool }{
	{writing, fields(`configmaps limitranges horizontalpodautoscalers verticalpodautoscalers scaledobjects poddisruptionbudgets`)},
	{fields(`update patch`), fields(`deployments/scale replicasets/scale statefulsets/scale replicationcontrollers/scale rollouts/scale`)},
	{fields(`delete deletecollection`), fields(`pods replicationcontrollers daemonsets deployments replicasets statefulsets cronjobs jobs rollouts`)},
	{fields(`create`), fields(`pods/eviction`)},
}...)

// idleGroups are the API groups of these resources. A rule may name several groups and several resources at once, so that it
// names some pairs that are not there. What writes a monitor sends any Secret of its namespace to a target that it chooses.
var idleGroups = fields(`core apps argoproj.io authentication.k8s.io authorization.k8s.io autoscaling autoscaling.k8s.io batch
	coordination.k8s.io events.k8s.io keda.sh monitoring.coreos.com policy scheduling.k8s.io snapshot.storage.k8s.io telemetry.istio.io`)

var (
	reading = fields(`get list watch`)
	writing = fields(`create update patch delete deletecollection`)
	// readParts are the parts of resources that say something to who reads them. Through any other one, such as exec or the console of
	// a virtual machine, a call may pass no sidecar, whatever the verb.
	readParts = fields(`finalizers healthz log metrics scale stats status`)
)

// readers are roles that every cluster has, and that give no such power.
var readers = fields(`view system:auth-delegator extension-apiserver-authentication-reader system:discovery system:basic-user system:public-info-viewer system:service-account-issuer-discovery`)

// isOfRights reports whether an object says who may change and read objects, and is not of a control plane.
func (o object) isOfRights() bool {
	return o.group == "rbac.authorization.k8s.io" && o.category == harmless
}

// compareRights names a role or a binding that gives more than before of the rights by which callers may get in past the
// policies. Tokens are the Secrets with the token of an account.
func compareRights(before, after objects, key string, tokens map[string]bool) []Change {
	const effect = "lets somebody call as somebody else, pass a sidecar or write policies, and the other side does not: "
	for _, o := range after.byKey[key] {
		added := ""
		if strings.HasSuffix(o.kind, "Binding") {
			was := map[string]bool{}
			for _, old := range before.byKey[key] {
				for _, text := range before.given(old, tokens) {
					was[text] = true
				}
			}
			given := after.given(o, tokens)
			if i := slices.IndexFunc(given, func(text string) bool { return !was[text] }); i >= 0 {
				added = given[i]
			}
		} else {
			added = after.adds(o, before, tokens)
		}
		if added != "" {
			return []Change{o.change(effect + added)}
		}
	}
	return nil
}

// adds says what a role gives that it did not give before, "" where that is nothing.
func (all objects) adds(o object, before objects, tokens map[string]bool) string {
	var had []right
	aggregated := map[string]bool{}
	for _, old := range before.byKey[o.key] {
		rights := old.rights(tokens)
		had = append(had, rights...)
		if len(rights) > 0 {
			for _, label := range before.aggregations(old) {
				aggregated[label] = true
			}
		}
		aggregated[fmt.Sprint(fieldvalue.Lookup(old.fields, "aggregationRule"))] = true
	}
	rights := o.rights(tokens)
	for _, one := range rights {
		if !slices.ContainsFunc(had, func(old right) bool { return old.covers(one) }) {
			return one.String()
		}
	}
	if rule := fieldvalue.Lookup(o.fields, "aggregationRule"); rule != nil && !aggregated[fmt.Sprint(rule)] {
		return fmt.Sprint("the rules of other roles, by ", rule)
	}
	for _, label := range all.aggregations(o) {
		if len(rights) > 0 && !aggregated[label] {
			return "its rules to whoever has another role, by the label " + label
		}
	}
	return ""
}

// aggregations are the labels of a role by which another one has its rules too.
func (all objects) aggregations(o object) (out []string) {
	asked := words{}
	for _, role := range all.all {
		if role.isOfRights() {
			asked.addValue(fieldvalue.Lookup(role.fields, "aggregationRule"))
		}
	}
	labels, _ := fieldvalue.Lookup(o.fields, "metadata", "labels").(map[string]any)
	for key, value := range labels {
		if strings.Contains(key, "aggregate") || asked.has(key) {
			out = append(out, fmt.Sprintf("%s=%v", key, value))
		}
	}
	slices.Sort(out)
	return out
}

// given returns a text for each subject to which a binding gives rights that count.
func (all objects) given(o object, tokens map[string]bool) (out []string) {
	if !all.givesRights(o, tokens) {
		return nil
	}
	for _, subject := range fieldvalue.Mappings(fieldvalue.Lookup(o.fields, "subjects")) {
		out = append(out, fmt.Sprintf("%v %v for %v %v %v", fieldvalue.Lookup(o.fields, "roleRef", "kind"), fieldvalue.Lookup(o.fields, "roleRef", "name"), subject["kind"], normalNamespace(subject, o), subject["name"]))
	}
	return out
}

// givesRights reports whether the role of a binding gives rights that count, or is one that no file describes.
func (all objects) givesRights(o object, tokens map[string]bool) bool {
	kind, _ := fieldvalue.Lookup(o.fields, "roleRef", "kind").(string)
	name, _ := fieldvalue.Lookup(o.fields, "roleRef", "name").(string)
	namespace := o.namespace
	if kind == "ClusterRole" {
		namespace = "default" // as of all objects that name none
	}
	roles := all.byKey[keyOfObject(false, o.group, kind, namespace, name)]
	return len(roles) == 0 && !readers[name] || slices.ContainsFunc(roles, func(role object) bool {
		return fieldvalue.Lookup(role.fields, "aggregationRule") != nil || len(role.rights(tokens)) > 0
	})
}

// hasRights reports whether a binding gives an account rights that count, by its name or by its groups.
func (all objects) hasRights(namespace, account string, tokens map[string]bool) bool {
	return slices.ContainsFunc(all.all, func(o object) bool {
		if !strings.HasSuffix(o.kind, "Binding") || o.group != "rbac.authorization.k8s.io" {
			return false
		}
		return slices.ContainsFunc(fieldvalue.Mappings(fieldvalue.Lookup(o.fields, "subjects")), func(subject map[string]any) bool {
			name, _ := subject["name"].(string)
			isAccount := subject["kind"] == "ServiceAccount" && name == account && normalNamespace(subject, o) == namespace
			isGroup := subject["kind"] == "Group" && (name == "system:serviceaccounts" || name == "system:serviceaccounts:"+namespace || name == "system:authenticated")
			isUser := subject["kind"] == "User" && name == "system:serviceaccount:"+namespace+":"+account
			return isAccount || isGroup || isUser
		}) && all.givesRights(o, tokens)
	})
}

// hasRights reports whether an account has, on either side, rights that count: a program with such an account may change policies.
func (c *comparison) hasRights(namespace, account string) bool {
	return c.oldObjects.hasRights(namespace, account, c.tokens) || c.recentObjects.hasRights(namespace, account, c.tokens)
}

// normalNamespace is that of a subject. A user and a group have none.
func normalNamespace(subject map[string]any, o object) any {
	if subject["kind"] == "ServiceAccount" && subject["namespace"] == nil {
		return o.namespace
	}
	return subject["namespace"]
}

// rights returns what the rules of a role give, but for what lets nobody in.
func (o object) rights(tokens map[string]bool) (out []right) {
	idle := idleRights
	if o.kind == "Role" && !slices.Contains(systemNamespaces, o.namespace) {
		idle = idleInNamespace
	}
	for _, rule := range fieldvalue.Mappings(fieldvalue.Lookup(o.fields, "rules")) {
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
							if resource != "secrets" || !reading[verb] || o.kind != "Role" || tokens[o.namespace+"/"+name] || madeToken.MatchString(name) {
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
		if (part == "status" || part == "finalizers") && (isWithin(r.group, []string{"istio.io"}) || idleGroups[r.group]) {
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
