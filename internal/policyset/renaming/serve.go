package renaming

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/policyset/choice"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
)

// isServed reports whether the policies of the set are as an API server gives them, and isLarge whether the set has as many peers as a large cluster.
func (t turn) isServed() bool { return t%7 == 4 }
func (t turn) isLarge() bool  { return t%28 == 11 }

// The peers of a large set. No other set has more than 150 of those that only call.
const (
	leastPeers = 200
	mostPeers  = 1200
)

// server gives policies what an API server and its clients write beside a spec: all of it at once, and true of the object. What
// [dresser] adds is random, and a compiler that knows real objects tells it from them.
type server struct{ dresser }

// serve serves the policies, which are values as JSON has them, where it is their turn. Its choices follow from the policies, so that it
// takes none from what comes behind it.
func (t turn) serve(out *cases.Case, policies []any) {
	if !t.isServed() {
		return
	}
	h := fnv.New64a()
	for _, p := range policies {
		text, err := json.Marshal(p)
		if err != nil {
			panic(fmt.Sprintf("renaming: %v", err))
		}
		_, _ = h.Write(text)
	}
	s := server{dresser{choice.Random(h.Sum64(), uint64(t)), 4}}
	for _, p := range policies {
		if p, ok := p.(map[string]any); ok {
			s.object(p)
		}
	}
	if t.isLarge() {
		s.manyPeers(out)
	}
}

// object serves one object of Kubernetes. A resource of Kuma's universal form has no such fields.
func (s server) object(p map[string]any) {
	m, ok := p["metadata"].(map[string]any)
	if !ok {
		return
	}
	applied := s.applied(p, m)
	for _, gone := range []string{"deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "generateName", "finalizers", "ownerReferences"} {
		delete(m, gone)
	}
	if text, _ := m["creationTimestamp"].(string); text == "" {
		m["creationTimestamp"] = s.time()
	}
	m["uid"], m["resourceVersion"], m["generation"] = s.anyUID(), fmt.Sprint(1+s.UpTo(1<<30)), s.UpTo(40)
	if s.OneIn(3) {
		m["labels"] = s.labels(mapping(m["labels"]), 24)
	}
	if s.OneIn(3) {
		m["finalizers"] = s.texts(5, s.key)
	}
	if s.OneIn(3) {
		m["ownerReferences"] = s.owners()
	}
	if s.OneIn(2) {
		p["status"] = s.status(isOfGateway(p))
	}
	if applied != "" {
		annotations := maps.Clone(mapping(m["annotations"]))
		if annotations == nil {
			annotations = map[string]any{}
		}
		for range s.Choose(2) * s.UpTo(30) {
			annotations[s.key()] = s.text(40)
		}
		annotations[lastApplied] = applied
		m["annotations"] = annotations
	}
	m["managedFields"] = s.managers(p, applied != "")
}

// applied is what kubectl applied, as it notes it, and "" for an object that kubectl did not apply.
func (s server) applied(p, m map[string]any) string {
	if s.OneIn(3) {
		return ""
	}
	return appliedText(p, m)
}

// lastApplied is the annotation in which kubectl notes what it applied.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

func appliedText(p, m map[string]any) string {
	written := object{"name": m["name"], "annotations": object{}}
	for _, key := range []string{"namespace", "labels"} {
		if m[key] != nil {
			written[key] = m[key]
		}
	}
	of := object{"apiVersion": p["apiVersion"], "kind": p["kind"], "metadata": written}
	for _, key := range []string{"spec", "specs"} {
		if p[key] != nil {
			of[key] = p[key]
		}
	}
	text, err := json.Marshal(of)
	if err != nil {
		panic(fmt.Sprintf("renaming: %v", err))
	}
	return string(text) + "\n"
}

// anyUID is a UUID of version 4, of which two bits say no more than that.
func (s server) anyUID() string {
	uid := []byte(s.uid())
	uid[19] = choice.Pick(s.Chooser, []byte("89ab")...)
	return string(uid)
}

// owners are the objects by which this one stays. An API server lets one of them be the controller.
func (s server) owners() []object {
	out := choice.Items(s.Chooser, 1, 4, func() object {
		of := object{
			"apiVersion": choice.Pick(s.Chooser, "apps/v1", "v1", s.word(8)+".io/v1", s.word(8)+"."+s.word(6)+".io/v1beta1"),
			"kind":       choice.Pick(s.Chooser, "Deployment", "ReplicaSet", "ConfigMap", "Service", "Kustomization", likeCase(s.word(14), "Aa")), "name": s.word(30), "uid": s.anyUID(),
		}
		if s.OneIn(2) {
			of["blockOwnerDeletion"] = s.OneIn(2)
		}
		return of
	})
	if s.OneIn(2) {
		choice.Pick(s.Chooser, out...)["controller"] = true
	}
	return out
}

// status is what controllers say of the object: each has several conditions, of any type and reason. A policy of Gateway API has them
// for each ancestor.
func (s server) status(ofAncestors bool) object {
	conditions := func() any {
		return choice.Items(s.Chooser, 1, 4, func() object {
			return object{
				"type": choice.Pick(s.Chooser, "Accepted", "Ready", "Programmed", "ResolvedRefs", likeCase(s.word(12), "Aa")), "status": choice.Pick(s.Chooser, "True", "False", "Unknown"),
				"reason": choice.Pick(s.Chooser, "Accepted", "Invalid", "Conflicted", "TargetNotFound", likeCase(s.word(16), "Aa")), "message": s.text(60), "lastTransitionTime": s.time(), "observedGeneration": s.UpTo(40),
			}
		})
	}
	if !ofAncestors {
		return object{"conditions": conditions(), "observedGeneration": s.UpTo(40)}
	}
	return object{"ancestors": choice.Items(s.Chooser, 1, 3, func() object {
		return object{"ancestorRef": object{"group": "", "kind": choice.Pick(s.Chooser, "Pod", "Namespace", "Service"), "name": s.word(20)}, "controllerName": s.word(9) + ".io/" + s.word(10), "conditions": conditions()}
	})}
}

// managers are those who wrote the object, with the fields that each of them owns.
func (s server) managers(p map[string]any, applied bool) []object {
	entry := func(manager, operation string, fields object) object {
		return object{"manager": manager, "operation": operation, "apiVersion": p["apiVersion"], "time": s.time(), "fieldsType": "FieldsV1", "fieldsV1": fields}
	}
	m, _ := p["metadata"].(map[string]any)
	owned, of := object{}, object{}
	for _, key := range []string{"annotations", "labels"} {
		if m[key] != nil {
			owned["f:"+key] = fieldsOf(m[key], true)
		}
	}
	if len(owned) > 0 {
		of["f:metadata"] = owned
	}
	for _, key := range []string{"spec", "specs"} {
		if p[key] != nil {
			of["f:"+key] = fieldsOf(p[key], true)
		}
	}
	out := []object{entry(choice.Pick(s.Chooser, "helm", "argocd-controller", "kustomize-controller", s.word(12)), "Apply", of)}
	if applied {
		out[0] = entry("kubectl-client-side-apply", "Update", of)
	}
	if s.OneIn(3) {
		out = append(out, entry(choice.Pick(s.Chooser, "kubectl-edit", "kubectl-label", s.word(12)), "Update", object{"f:metadata": object{"f:labels": object{"f:" + s.key(): object{}}}}))
	}
	if p["status"] != nil {
		status := entry(s.word(12), "Update", object{"f:status": fieldsOf(p["status"], false)})
		status["subresource"] = "status"
		out = append(out, status)
	}
	return out
}

// fieldsOf are the fields of a mapping as an API server names them. A list is one field.
func fieldsOf(v any, deep bool) object {
	out := object{}
	of := mapping(v)
	for key := range of {
		out["f:"+key] = object{}
		if inner := mapping(of[key]); inner != nil && deep {
			out["f:"+key] = fieldsOf(inner, deep)
		}
	}
	return out
}

// mapping returns a mapping that was read, or that [dresser] made, and nil for another value.
func mapping(v any) map[string]any {
	if made, ok := v.(object); ok {
		return made
	}
	read, _ := v.(map[string]any)
	return read
}

// manyPeers adds workloads that only call, as many as a large cluster has.
func (s server) manyPeers(out *cases.Case) {
	if len(out.Inbounds) == 0 || len(out.Options.Peers) == 0 {
		return
	}
	known, identities := map[string]bool{}, map[string]bool{}
	for _, in := range out.Inbounds {
		known[in.Workload.Name] = true
	}
	for _, p := range out.Options.Peers {
		known[p.Workload.Name], identities[p.Identity.String()] = true, true
	}
	beside, td := out.Inbounds[0].Workload, out.Inbounds[0].Identity.TrustDomain()
	namespaces := choice.Items(s.Chooser, 3, 30, func() string { return s.word(20) })
	for range s.Number(leastPeers, mostPeers) {
		w := policy.Workload{
			Name: s.word(10) + "-" + s.Letters(6), Namespace: choice.Pick(s.Chooser, append(namespaces, beside.Namespace)...), Mesh: beside.Mesh, Zone: beside.Zone,
			Labels: map[string]string{"app": s.word(8), "pod-template-hash": s.Letters(10)},
		}
		account := w
		account.Name = choice.Pick(s.Chooser, w.Name, w.Name, "default", s.word(12))
		id := IdentityOf(td, account)
		if known[w.Name] || identities[id.String()] {
			continue
		}
		known[w.Name], identities[id.String()] = true, true
		out.Options.Peers = append(out.Options.Peers, language.Peer{Workload: w, Identity: id, IP: s.Address()})
	}
	out.Options.Peers = slices.Clone(choice.Shuffled(s.Chooser, out.Options.Peers))
}
