package renaming

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/policyset/choice"
	"github.com/meshproof/meshproof/internal/policyset/tree"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
)

// isListed reports whether policies and peers of the set are as a cluster lists them. Such a set is served too.
func (t turn) isListed() bool { return t%14 == 4 }

// The most policies of a listed set with those that are copied, and the most bytes of its policies as JSON.
const mostListed, mostListedBytes = 60, 1 << 18

// lister makes a whole cluster of a set: its parts are true of each other. Each of them by itself is in other sets, and a compiler that
// looks at several takes those for the lab.
type lister struct {
	server
	set        *cases.Case
	policies   []any
	namespaces []string
}

// list lists the set, where it is its turn, and returns its policies. Other sets stay as they are.
func (t turn) list(out *cases.Case, policies []any, options any) []any {
	text, err := json.Marshal([]any{policies, options})
	if err != nil {
		panic(fmt.Sprintf("renaming: %v", err))
	}
	if !t.isListed() || len(out.Inbounds) == 0 || out.Inbounds[0].Workload.Namespace == "" || len(policies) == 0 || len(text) > mostListedBytes {
		return policies
	}
	h := fnv.New64a()
	_, _ = h.Write(text)
	l := lister{server: server{dresser{choice.Random(h.Sum64(), uint64(t)), 4}}, set: out, policies: slices.Clone(policies)}
	l.namespaces = append(choice.Items(l.Chooser, 2, 5, func() string { return l.noun() + "-" + l.word(6) }), out.Inbounds[0].Workload.Namespace)
	if len(out.Options.Peers) > 0 {
		l.pods(string(text))
	}
	l.network()
	l.copyPolicies()
	l.settle(l.OneIn(2))
	slices.SortStableFunc(out.Options.Peers, func(a, b language.Peer) int {
		return cmp.Or(strings.Compare(a.Workload.Namespace, b.Workload.Namespace), strings.Compare(a.Workload.Name, b.Workload.Name))
	})
	slices.SortStableFunc(l.policies, func(a, b any) int { return slices.Compare(listedAs(a), listedAs(b)) })
	return l.policies
}

// listedAs is by what a cluster lists a policy: its kind, its namespace and its name.
func listedAs(p any) []string {
	of, m := mapping(p), tree.Metadata(p)
	return []string{fmt.Sprint(of["kind"], of["type"]), fmt.Sprint(m["namespace"]), fmt.Sprint(m["name"])}
}

func (l *lister) noun() string { return choice.Pick(l.Chooser, nouns...) }

// hash makes up such a text as Kubernetes adds to names.
func (l *lister) hash(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = choice.Pick(l.Chooser, []byte("bcdfghjklmnpqrstvwxz2456789")...)
	}
	return string(b)
}

// pods makes pods of the workloads: a ReplicaSet names them, and their account has the old name. It adds pods that only call. A
// workload that the text of policies and options names keeps its name.
func (l *lister) pods(text string) {
	renamed := map[string]policy.Workload{}
	pod := func(w policy.Workload) policy.Workload {
		key := w.Namespace + "/" + w.Name
		to, known := renamed[key]
		if !known {
			if to = w; !strings.Contains(text, `"`+w.Name+`"`) && !strings.Contains(text, key+`"`) {
				to = l.podOf(w, l.hash(l.Number(8, 10)))
			}
			renamed[key] = to
		}
		w.Name, w.Labels = to.Name, to.Labels
		return w
	}
	for i := range l.set.Inbounds {
		l.set.Inbounds[i].Workload = pod(l.set.Inbounds[i].Workload)
	}
	known := map[string]bool{}
	for i := range l.set.Options.Peers {
		p := &l.set.Options.Peers[i]
		p.Workload = pod(p.Workload)
		known[p.Identity.String()] = true
	}
	beside, td := l.set.Inbounds[0].Workload, l.set.Inbounds[0].Identity.TrustDomain()
	for range l.Number(3, 7) {
		w := policy.Workload{Name: l.noun() + choice.Pick(l.Chooser, "", "-"+l.noun()), Namespace: choice.Pick(l.Chooser, l.namespaces...), Mesh: beside.Mesh, Zone: beside.Zone, Origin: beside.Origin}
		w.Labels = map[string]string{"app": w.Name, "app.kubernetes.io/name": w.Name}
		if beside.ServiceAccount != "" {
			w.ServiceAccount = w.Name
		}
		id := IdentityOf(td, w)
		if known[id.String()] {
			continue
		}
		known[id.String()] = true
		hash := l.hash(l.Number(8, 10))
		for range l.Number(1, 5) {
			l.set.Options.Peers = append(l.set.Options.Peers, language.Peer{Workload: l.podOf(w, hash), Identity: id, IP: l.Address()})
		}
	}
}

// podOf is a pod of the workload. One without labels has none.
func (l *lister) podOf(w policy.Workload, hash string) policy.Workload {
	const mostName, suffix = 63, 5
	of := strings.TrimRight(w.Name[:min(len(w.Name), mostName-suffix-len(hash)-2)], "-._")
	if w.Labels != nil {
		w.Labels = maps.Clone(w.Labels)
		w.Labels["pod-template-hash"] = hash
		if w.Labels["app.kubernetes.io/name"] == "" {
			w.Labels["app.kubernetes.io/name"] = of
		}
	}
	w.Name = of + "-" + hash + "-" + l.hash(suffix)
	return w
}

// network gives all workloads addresses of one network of pods.
func (l *lister) network() {
	first := choice.Pick(l.Chooser, [2]byte{10, byte(l.Choose(256))}, [2]byte{172, 16 + byte(l.Choose(16))}, [2]byte{192, 168}, [2]byte{100, 64 + byte(l.Choose(64))})
	known, taken := map[netip.Addr]netip.Addr{}, map[netip.Addr]bool{}
	move := func(ip netip.Addr) netip.Addr {
		to, was := known[ip]
		for !was && (!to.IsValid() || taken[to]) {
			to = netip.AddrFrom4([4]byte{first[0], first[1], byte(l.Choose(256)), 1 + byte(l.Choose(254))})
		}
		known[ip], taken[to] = to, true
		return to
	}
	for i := range l.set.Options.Peers {
		l.set.Options.Peers[i].IP = move(l.set.Options.Peers[i].IP)
	}
	for i := range l.set.Inbounds {
		l.set.Inbounds[i].IP = move(l.set.Inbounds[i].IP)
	}
}

// copyPolicies writes the policies into the other namespaces, too. A role of Kuma's policies follows from their namespace.
func (l *lister) copyPolicies() {
	own := l.policies
	known := map[string]bool{}
	for _, namespace := range l.namespaces[:len(l.namespaces)-1] {
		if len(l.policies)+len(own) > mostListed {
			return
		}
		for _, p := range own {
			if tree.Metadata(p)["namespace"] == nil || mapping(p)["kind"] == "MeshTrafficPermission" {
				continue
			}
			to := moved(tree.Clone(p), tree.Metadata(p)["namespace"], namespace)
			delete(tree.Metadata(to), "uid")
			// Two namespaces may have a policy of one name.
			key := fmt.Sprint(listedAs(to))
			if known[key] {
				continue
			}
			known[key] = true
			l.policies = append(l.policies, to)
		}
	}
}

// moved puts another namespace in the place of one, wherever a value is its name.
func moved(v, from any, to string) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = moved(v[i], from, to)
		}
	case map[string]any:
		for key := range v {
			v[key] = moved(v[key], from, to)
		}
	case string:
		if v == from {
			return to
		}
	}
	return v
}

// settle makes the metadata of each object true: who wrote it, when, and which of its generations is meant.
func (l *lister) settle(applied bool) {
	for _, p := range l.policies {
		p := mapping(p)
		m := mapping(p["metadata"])
		if m == nil || p["kind"] == nil {
			continue
		}
		for key, value := range map[string]any{"uid": l.anyUID(), "resourceVersion": fmt.Sprint(1 + l.UpTo(1<<30)), "generation": l.UpTo(40)} {
			if m[key] == nil {
				m[key] = value
			}
		}
		annotations := maps.Clone(mapping(m["annotations"]))
		delete(annotations, lastApplied)
		if applied {
			if annotations == nil {
				annotations = map[string]any{}
			}
			annotations[lastApplied] = appliedText(p, m)
		}
		if m["annotations"] = annotations; len(annotations) == 0 {
			delete(m, "annotations")
		}
		m["managedFields"] = l.managers(p, applied)
		created := begin
		if text, _ := m["creationTimestamp"].(string); text != "" {
			if at, err := time.Parse(time.RFC3339, text); err == nil {
				created = inThePast(at)
				m["creationTimestamp"] = created.Format(time.RFC3339)
			}
		}
		var generation int
		_, _ = fmt.Sscan(fmt.Sprint(m["generation"]), &generation)
		m["managedFields"] = l.settled(m["managedFields"], created, generation)
		if p["status"] != nil {
			p["status"] = l.settled(p["status"], created, generation)
		}
	}
}

// settled returns a value with times behind the creation, and with generations that the object had.
func (l *lister) settled(v any, created time.Time, generation int) any {
	read := tree.Clone(jsonOf(v))
	var visit func(v any)
	visit = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, item := range v {
				visit(item)
			}
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(v)) {
				switch key {
				case "time", "lastTransitionTime":
					v[key] = created.Add(time.Duration(l.Choose(200*24*3600)) * time.Second).Format(time.RFC3339)
				case "observedGeneration":
					v[key] = max(1, generation-l.Choose(2))
				default:
					visit(v[key])
				}
			}
		}
	}
	visit(read)
	return read
}

// jsonOf returns the value as JSON has it.
func jsonOf(v any) (out any) {
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		panic(fmt.Sprintf("renaming: %v", err))
	}
	return out
}

// begin is when the first object was made.
var begin = time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)

// inThePast moves a time into the past, and keeps the order of times: the oldest of some policies decides.
func inThePast(at time.Time) time.Time {
	return begin.Add(at.Sub(begin).Truncate(3*time.Second) / 3 * 2)
}
