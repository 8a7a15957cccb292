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
	"github.com/meshproof/meshproof/internal/feature"
	"github.com/meshproof/meshproof/internal/policyset/choice"
	"github.com/meshproof/meshproof/internal/policyset/tree"
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
	// profile is that of the first policy, and mesh the one whose injector labels the pods.
	profile, mesh feature.Profile
	// newest is when the last object may have been made, and span how long before that the oldest one was.
	newest time.Time
	span   time.Duration
}

// list lists the set, where it is its turn, and returns its policies. Other sets stay as they are.
func (t turn) list(out *cases.Case, policies []any, options any, profile feature.Profile, today time.Time) []any {
	if !t.isListed() || len(out.Inbounds) == 0 || out.Inbounds[0].Workload.Namespace == "" || len(policies) == 0 {
		return policies
	}
	text, err := json.Marshal([]any{policies, options})
	if err != nil {
		panic(fmt.Sprintf("renaming: %v", err))
	}
	if len(text) > mostListedBytes {
		return policies
	}
	h := fnv.New64a()
	_, _ = h.Write(text)
	l := lister{server: server{dresser{choice.Random(h.Sum64(), uint64(t)), 4}}, set: out, policies: slices.Clone(policies), profile: profile, mesh: profile, newest: today}
	if l.mesh == feature.GEP3779 { // which any mesh may have
		l.mesh = choice.Pick(l.Chooser, feature.GEP3779, feature.IstioAuthz, feature.LinkerdAuthz, feature.CiliumIngress, feature.KumaMTP)
	}
	l.span = choice.Pick(l.Chooser, l.newest.Sub(begin), 500*day, 60*day, 6*day)
	l.namespaces = append(choice.Items(l.Chooser, 2, 5, func() string { return l.noun() + "-" + l.word(6) }), out.Inbounds[0].Workload.Namespace)
	if len(out.Options.Peers) > 0 {
		l.pods(string(text), options)
	}
	if t.isManifold() && len(text) < mostListedBytes/8 {
		l.manyPods()
	}
	l.network()
	l.portNames(string(text))
	l.copyPolicies()
	l.settle()
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

// moved puts another namespace in the place of one, wherever a value is its name, and selects other workloads there.
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
		labels := mapping(v["matchLabels"])
		for key, value := range labels {
			const mostValue = 63
			if text, _ := value.(string); text != "" && text != to && len(text)+1+len(to) <= mostValue && !givenLabel.MatchString(key) && !strings.Contains(key, "kuma.io/") {
				labels[key] = text + "-" + to
			}
		}
	case string:
		if v == from {
			return to
		}
	}
	return v
}

// settle makes the metadata of each object true: who wrote it, when, and which of its generations is meant. One tool wrote all of them.
func (l *lister) settle() {
	by, unmanaged, release := choice.Pick(l.Chooser, "kubectl", "helm", "argocd", "flux", "a program"), l.OneIn(2), l.noun()
	for _, p := range l.policies {
		p := mapping(p)
		m := mapping(p["metadata"])
		if m == nil || p["kind"] == nil {
			continue
		}
		uid, version, generation := l.anyUID(), fmt.Sprint(1+l.UpTo(1<<30)), l.UpTo(40)
		for key, value := range map[string]any{"uid": uid, "resourceVersion": version, "generation": generation} {
			if m[key] == nil {
				m[key] = value
			}
		}
		l.tool(by, release, p, m)
		m["managedFields"] = l.managers(p, by == "kubectl")
		created := l.newest.Add(-l.span)
		if text, _ := m["creationTimestamp"].(string); text != "" {
			if at, err := time.Parse(time.RFC3339, text); err == nil {
				created = l.inThePast(at)
				m["creationTimestamp"] = created.Format(time.RFC3339)
			}
		}
		_, _ = fmt.Sscan(fmt.Sprint(m["generation"]), &generation)
		if m["managedFields"] = l.settled(m["managedFields"], created, generation); unmanaged {
			delete(m, "managedFields") // as most clients ask for it
		}
		if p["status"] != nil {
			p["status"] = l.settled(p["status"], created, generation)
		}
	}
}

// tool notes in an object which tool wrote it.
func (l *lister) tool(by, release string, p, m map[string]any) {
	annotations, labels := maps.Clone(mapping(m["annotations"])), maps.Clone(mapping(m["labels"]))
	delete(annotations, lastApplied)
	noted, marked := map[string]any{}, map[string]any{}
	switch by {
	case "helm":
		marked = map[string]any{"app.kubernetes.io/managed-by": "Helm", "app.kubernetes.io/instance": release, "helm.sh/chart": release + "-1.2.3"}
		noted = map[string]any{"meta.helm.sh/release-name": release, "meta.helm.sh/release-namespace": m["namespace"]}
	case "argocd":
		group, _, _ := strings.Cut(fmt.Sprint(p["apiVersion"]), "/")
		marked = map[string]any{"argocd.argoproj.io/instance": release}
		noted = map[string]any{"argocd.argoproj.io/tracking-id": fmt.Sprintf("%s:%s/%s:%v/%v", release, group, p["kind"], m["namespace"], m["name"])}
	case "flux":
		marked = map[string]any{"kustomize.toolkit.fluxcd.io/name": release, "kustomize.toolkit.fluxcd.io/namespace": "flux-system"}
	}
	for key, to := range map[string]struct{ present, more map[string]any }{"annotations": {annotations, noted}, "labels": {labels, marked}} {
		if to.present == nil {
			to.present = map[string]any{}
		}
		for more, value := range to.more {
			if value != nil {
				to.present[more] = value
			}
		}
		if m[key] = to.present; len(to.present) == 0 {
			delete(m, key)
		}
	}
	if by == "kubectl" {
		text := appliedText(p, m)
		of := mapping(m["annotations"])
		if of == nil {
			of = map[string]any{}
		}
		of[lastApplied] = text
		m["annotations"] = of
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
					v[key] = created.Add(time.Duration(l.Choose(1+int(l.newest.Sub(created)/time.Second))) * time.Second).Format(time.RFC3339)
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

// begin is when the first object was made, and drawn is how long behind that the times lie that are drawn.
var (
	begin = time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	drawn = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC).Sub(begin)
)

// inThePast moves a time into the past, and keeps the order of times: the oldest of some policies decides.
func (l *lister) inThePast(at time.Time) time.Time {
	back := begin.Add(drawn).Sub(at).Seconds() * (l.span.Seconds() / drawn.Seconds())
	return l.newest.Add(-time.Duration(back) * time.Second)
}
