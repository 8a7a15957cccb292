package manifestdiff

import (
	"fmt"
	"slices"
	"strings"
)

// power is what a role may give its subjects that lets them in past the policies, or as somebody else.
type power struct{ groups, resources, verbs map[string]bool }

// powers are fixed. Whoever runs a pod runs it as any account of the namespace, and whoever reads a Secret may find a token or an
// authority there. A call that the API server hands to a pod passes no sidecar, and neither does one of exec.
var powers = []power{
	{fields(`core`), fields(`serviceaccounts/token`), fields(`create`)},
	{fields(`core`), fields(`users groups serviceaccounts userextras`), fields(`impersonate`)},
	{fields(`authentication.k8s.io`), fields(`uids userextras`), fields(`impersonate`)},
	{fields(`rbac.authorization.k8s.io`), fields(`roles clusterroles`), fields(`escalate bind`)},
	{fields(`certificates.k8s.io`), fields(`signers`), fields(`approve sign`)},
	{fields(`core`), fields(`pods/exec pods/attach pods/portforward pods/proxy services/proxy nodes/proxy`), fields(`get create`)},
	{fields(`core`), fields(`secrets`), fields(`get list watch`)},
	{fields(`core`), fields(`pods pods/ephemeralcontainers podtemplates replicationcontrollers`), fields(`create update patch`)},
	{fields(`core`), fields(`namespaces services`), fields(`create update patch`)}, // by their labels and ports, policies select, and meshes inject
	{fields(`apiextensions.k8s.io`), fields(`customresourcedefinitions`), fields(`update patch delete deletecollection`)},
	{fields(`apps`), fields(`daemonsets deployments replicasets statefulsets`), fields(`create update patch`)},
	{fields(`batch`), fields(`cronjobs jobs`), fields(`create update patch`)},
	{fields(`argoproj.io`), fields(`rollouts`), fields(`create update patch`)},
	{fields(`admissionregistration.k8s.io`), fields(`mutatingwebhookconfigurations mutatingadmissionpolicies`), fields(`create update patch`)},
	{fields(`networking.k8s.io`), fields(`networkpolicies`), fields(`create update patch delete deletecollection`)},
}

// writing are the verbs that change objects. Of the kinds of a mesh, these change no policy.
var (
	writing      = fields(`create update patch delete deletecollection`)
	unpoliticals = fields(`virtualservices destinationrules telemetries`)
)

// readers are roles that every cluster has, and that give no such power.
var readers = fields(`view system:auth-delegator extension-apiserver-authentication-reader system:discovery system:basic-user system:public-info-viewer`)

// isOfRights reports whether an object says who may change and read objects, and is not of a control plane.
func (o object) isOfRights() bool {
	return o.group == "rbac.authorization.k8s.io" && o.category == harmless
}

// compareRights names an object that gives more than before of the powers by which callers get in past the policies. Tokens
// are the Secrets with the token of an account.
func compareRights(before, after objects, key string, tokens map[string]bool) []Change {
	was := map[string]bool{}
	for _, o := range before.byKey[key] {
		for _, power := range before.rights(o, tokens) {
			was[power] = true
		}
	}
	for _, o := range after.byKey[key] {
		added := slices.DeleteFunc(after.rights(o, tokens), func(power string) bool { return was[power] })
		if len(added) > 0 {
			return []Change{o.change("lets somebody call as somebody else, pass a sidecar or write policies, and the other side does not: " + added[0])}
		}
	}
	return nil
}

// rights returns a text for each power that an object gives.
func (all objects) rights(o object, tokens map[string]bool) (out []string) {
	if !strings.HasSuffix(o.kind, "Binding") {
		return o.powers(tokens)
	}
	kind, _ := fieldOf(o.fields, "roleRef", "kind").(string)
	name, _ := fieldOf(o.fields, "roleRef", "name").(string)
	given := []string{"a role that no file describes"}
	for _, role := range all.all {
		if role.isOfRights() && role.kind == kind && role.name == name && (kind != "Role" || role.namespace == o.namespace) {
			given = role.powers(tokens)
		}
	}
	if (kind == "ClusterRole" || kind == "Role") && readers[name] || len(given) == 0 {
		return nil
	}
	for _, subject := range mappings(fieldOf(o.fields, "subjects")) {
		out = append(out, fmt.Sprintf("%s %s for %v %v %v", kind, name, subject["kind"], normalNamespace(subject, o), subject["name"]))
	}
	return out
}

// normalNamespace is that of a subject. A user and a group have none.
func normalNamespace(subject map[string]any, o object) any {
	if subject["kind"] == "ServiceAccount" && subject["namespace"] == nil {
		return o.namespace
	}
	return subject["namespace"]
}

// powers returns a text for each power that a role gives.
func (o object) powers(tokens map[string]bool) (out []string) {
	if rule := fieldOf(o.fields, "aggregationRule"); rule != nil {
		out = append(out, fmt.Sprint("the rules of other roles, by ", rule))
	}
	for _, rule := range mappings(fieldOf(o.fields, "rules")) {
		groups, resources, verbs, names := textsOf(rule["apiGroups"]), textsOf(rule["resources"]), textsOf(rule["verbs"]), textsOf(rule["resourceNames"])
		for i, group := range groups {
			if group == "" {
				groups[i] = "core"
			}
		}
		add := func(verb, group, resource string) {
			text := verb + " " + resource
			if group != "core" {
				text += "." + group
			}
			isToken := func(name string) bool { return tokens[o.namespace+"/"+name] }
			switch {
			case len(names) == 0:
				out = append(out, text)
			case resource == "secrets" && !slices.ContainsFunc(names, isToken):
			case verb != "create" || strings.Contains(resource, "/"): // without a subresource, no name bounds what is created
				for _, name := range names {
					out = append(out, text+" "+name)
				}
			}
		}
		for _, p := range powers {
			for _, group := range matching(p.groups, groups) {
				for _, resource := range matching(p.resources, resources) {
					for _, verb := range matching(p.verbs, verbs) {
						add(verb, group, resource)
					}
				}
			}
		}
		for _, group := range groups {
			for _, resource := range resources {
				if _, part, _ := strings.Cut(resource, "/"); !isWithin(group, slices.Concat(meshDomains, mutators, []string{"gateway.networking.k8s.io"})) || unpoliticals[resource] || part == "status" || part == "finalizers" {
					continue
				}
				for _, verb := range matching(writing, verbs) {
					add(verb, group, resource)
				}
			}
		}
	}
	return out
}

// textsOf returns the texts of a list.
func textsOf(list any) (out []string) {
	items, _ := list.([]any)
	for _, item := range items {
		out = append(out, fmt.Sprint(item))
	}
	return out
}

// matching returns those that a list of a rule has, by a wildcard too: "*", or "*/token" for one part of every resource.
func matching(all map[string]bool, list []string) (out []string) {
	for one := range all {
		_, part, _ := strings.Cut(one, "/")
		if slices.Contains(list, one) || slices.Contains(list, "*") || part != "" && slices.Contains(list, "*/"+part) {
			out = append(out, one)
		}
	}
	slices.Sort(out)
	return out
}
