package manifestdiff

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/fieldpath"
	"github.com/meshproof/meshproof/internal/fieldvalue"
)

// openings are the fields by which a workload, a Namespace or an account opens something although the other
// side does not have it at all: the network of a node, more power on it, the name of a caller, pods of another one.
var openings = map[string]bool{
	"spec.hostNetwork": true, "spec.hostPID": true, "spec.hostIPC": true, "spec.serviceAccountName": true, "spec.serviceAccount": true,
	"template.serviceAccount":                      true,
	"spec.automountServiceAccountToken":            true,
	"automountServiceAccountToken":                 true,
	"spec.workloadRef.name":                        true,
	"spec.containers[].securityContext.privileged": true, "spec.containers[].securityContext.capabilities.add": true,
	"spec.initContainers[].securityContext.privileged": true, "spec.initContainers[].securityContext.capabilities.add": true,
}

// neutral are the fields of a security context that give no more power than a container has without them.
var neutral = fieldpath.SetOf(`runAsUser runAsGroup runAsNonRoot fsGroup fsGroupChangePolicy supplementalGroups supplementalGroupsPolicy readOnlyRootFilesystem
	allowPrivilegeEscalation capabilities seccompProfile appArmorProfile privileged`)

// givesPower reports whether a field of a pod is one by which it may get more power, or something of the node,
// and that has no row in a table: the world is closed there.
func givesPower(path string) bool {
	if _, field, found := strings.Cut(path, "securityContext."); found {
		field, _, _ = strings.Cut(field, ".")
		return !neutral[strings.TrimSuffix(field, "[]")]
	}
	if volume, found := strings.CutPrefix(path, "spec.volumes[]."); found {
		of, _, _ := strings.Cut(volume, ".")
		return !podFields["spec.volumes[]."+of]
	}
	return fieldvalue.HasAnyPrefix(path, []string{"spec.ephemeralContainers", "spec.resourceClaims"})
}

// ofProxies are the users and groups of sidecars: the rules of the network leave what they send as it is, so that such a program has
// no sidecar in front of its calls.
var ofProxies = fieldpath.SetOf(`1337 2102 5678`)

// givesUser reports whether a container gets a user or a group, and had that of its image: neither that of a sidecar nor the one
// with all power. What an image does is no part of the rule. Where the pod states a user, that one is replaced.
func (w *walker) givesUser(path string, was, is any) bool {
	_, field, _ := cutLast(path)
	if w.category != clusterobject.Workload || w.alone || path != "spec.containers[].securityContext."+field || field != "runAsUser" && field != "runAsGroup" || was != nil || w.states[field] != nil {
		return false
	}
	_, isText := is.(string)
	number, err := strconv.ParseUint(fmt.Sprint(is), 10, 31)
	return !isText && err == nil && number > 0 && !ofProxies[fmt.Sprint(number)] && !w.named.Has(fmt.Sprint(number)) // an annotation may give it to a sidecar
}

// losesToken reports whether a pod or an account loses the token of the account, and no mesh asks for it. Without it Linkerd injects nothing, and a sidecar of Kuma is known by it; the
// sidecar of Istio has a token of its own, and Cilium none.
func (w *walker) losesToken(path string, was, is any) bool {
	return w.tokenless && !w.alone && !w.owned && (path == "spec.automountServiceAccountToken" && w.category == clusterobject.Workload || path == "automountServiceAccountToken" && w.category == clusterobject.Account) && isFalse(is) && !isFalse(was)
}

// isTokenless reports whether all policies are of meshes that ask no pod for the token of its account, and there is one, and nothing in the folders speaks of another mesh.
func (c *comparison) isTokenless() bool {
	policies, asks := slices.Concat(c.oldPolicies.All, c.recentPolicies.All), false
	note := func(text string) {
		asks = asks || strings.Contains(strings.ToLower(text), "linkerd") || strings.Contains(strings.ToLower(text), "kuma")
	}
	for _, o := range c.objects() {
		note(o.Group)
		fieldvalue.EachText(o.Fields, note)
	}
	for _, texts := range []map[string]string{c.old.Texts, c.recent.Texts} {
		for _, text := range texts {
			note(text)
		}
	}
	return !asks && len(policies) > 0 && !slices.ContainsFunc(policies, func(o clusterobject.Object) bool { return o.Group != "security.istio.io" && o.Group != "cilium.io" })
}

// isTrue reports whether a value says yes. The parser of kubectl takes such words for truth values.
func isTrue(value any) bool {
	text, _ := value.(string)
	return value == true || slices.Contains([]string{"y", "yes", "on", "true"}, strings.ToLower(text))
}

// isFalse reports whether a value says no.
func isFalse(value any) bool {
	text, _ := value.(string)
	return value == false || slices.Contains([]string{"n", "no", "off", "false"}, strings.ToLower(text))
}

// opens reports whether a field of an object that only one side has opens something.
func (w *walker) opens(path string, value any) bool {
	relative := w.relative(path)
	list, isList := value.([]any)
	switch {
	case w.kind == "Rollout" && labelsPods(path):
		_, key, _ := strings.Cut(path, "Metadata.")
		_, key, _ = strings.Cut(key, ".")
		return w.named.Has(key) || clusterobject.IsOfMesh(key)
	case isGiver(relative):
		_, field, _ := cutLast(path)
		return certifies(value) || asksFor(w.disks, map[string]any{field: value}) || w.namesToken(value)
	case w.category == clusterobject.Workload && (strings.HasSuffix(relative, "securityContext.runAsUser") || strings.HasSuffix(relative, "securityContext.runAsGroup")):
		return ofProxies[fmt.Sprint(value)]
	case w.category == clusterobject.Workload && givesPower(relative):
		return value != nil && value != "" && !isFalse(value) && value != "Default"
	case !openings[relative]:
		return false
	case strings.Contains(relative, "serviceAccount"):
		name, _ := value.(string)
		return name != "" && (w.mayLetInAny(w.places, name) || w.hasRightsInAny(w.places, name))
	case isList:
		return len(list) > 0
	case strings.HasSuffix(relative, "automountServiceAccountToken"):
		return isFalse(value) && !w.tokenless
	case strings.HasSuffix(relative, "workloadRef.name"):
		return value != ""
	default:
		return isTrue(value)
	}
}

// labelsPods reports whether a field of a Rollout gives its pods labels or annotations beside their template.
func labelsPods(path string) bool {
	return strings.HasPrefix(path, "spec.strategy.") && (strings.Contains(path, "Metadata.labels.") || strings.Contains(path, "Metadata.annotations."))
}

// isGiver reports whether a field is in one that may give a pod the content of a Secret.
func isGiver(path string) bool {
	for giver := range givers {
		if strings.HasPrefix(path, giver) {
			return true
		}
	}
	return false
}

// hasPower reports whether a container may change the network of its pod.
func hasPower(container map[string]any) bool {
	added, _ := fieldvalue.Lookup(container, "securityContext", "capabilities", "add").([]any)
	return len(added) > 0 || isTrue(fieldvalue.Lookup(container, "securityContext", "privileged"))
}
