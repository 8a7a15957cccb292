package renaming

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/feature"
	"github.com/meshproof/meshproof/internal/policyset/choice"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
)

// pods makes pods of the workloads: a ReplicaSet names them, and their account has the old name. It adds pods that only call. A
// workload that the text of policies and options names keeps its name; stated are the options.
func (l *lister) pods(text string, stated any) {
	renamed, options := map[string]policy.Workload{}, fmt.Sprint(stated)
	pod := func(w policy.Workload) policy.Workload {
		key := w.Namespace + "/" + w.Name
		to, known := renamed[key]
		if !known {
			to = l.podOf(w, choice.Pick(l.Chooser, podKinds...), 0, l.hash(l.Number(8, 10)))
			isNamed := strings.Contains(text, `"`+w.Name+`"`)
			if namesNoPod[l.profile] {
				isNamed = strings.Contains(options, w.Name) // what the policies have is the value of a label
			}
			if isNamed || strings.Contains(text, key+`"`) {
				to.Name = w.Name
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
	var callers [][2]string
	if l.OneIn(2) {
		callers = slices.Concat(systemWorkloads[l.profile], systemWorkloads[""])
	}
	for range l.Number(3, 7) {
		callers = append(callers, [2]string{choice.Pick(l.Chooser, l.namespaces...), l.noun() + choice.Pick(l.Chooser, "", "-"+l.noun())})
	}
	for _, caller := range callers {
		w := policy.Workload{Name: caller[1], Namespace: caller[0], Mesh: beside.Mesh, Zone: beside.Zone, Origin: beside.Origin}
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
		kind := choice.Pick(l.Chooser, podKinds...)
		for i := range l.Number(1, 8) {
			l.set.Options.Peers = append(l.set.Options.Peers, language.Peer{Workload: l.podOf(w, kind, i, hash), Identity: id, IP: l.Address()})
		}
	}
}

// namesNoPod has the profiles whose policies choose pods by labels alone.
var namesNoPod = map[feature.Profile]bool{feature.IstioAuthz: true, feature.LinkerdAuthz: true, feature.CiliumIngress: true}

// systemWorkloads are those of each cluster, and those of a mesh, by namespace and name.
var systemWorkloads = map[feature.Profile][][2]string{
	"":                    {{"kube-system", "coredns"}, {"kube-system", "kube-proxy"}, {"monitoring", "prometheus"}},
	feature.IstioAuthz:    {{"istio-system", "istiod"}, {"istio-system", "istio-ingressgateway"}},
	feature.LinkerdAuthz:  {{"linkerd", "linkerd-destination"}, {"linkerd-viz", "prometheus"}},
	feature.CiliumIngress: {{"kube-system", "hubble-relay"}},
	feature.KumaMTP:       {{"kuma-system", "kuma-control-plane"}},
}

// podKind is what makes a pod.
type podKind uint8

const (
	ofReplicaSet podKind = iota
	ofStatefulSet
	ofDaemonSet
	ofJob
)

// podKinds has most pods as most are: of a ReplicaSet.
var podKinds = []podKind{ofReplicaSet, ofReplicaSet, ofReplicaSet, ofReplicaSet, ofReplicaSet, ofStatefulSet, ofDaemonSet, ofJob}

// podOf is a pod of the workload, the one at an index, with the labels that its controller, a chart and the injector of its mesh give it. One without
// labels has none.
func (l *lister) podOf(w policy.Workload, kind podKind, i int, hash string) policy.Workload {
	const mostName, suffix = 63, 5
	of := strings.TrimRight(w.Name[:min(len(w.Name), mostName-suffix-len(hash)-2)], "-._")
	w.Name = of + "-" + l.hash(suffix)
	more := map[string]string{}
	switch kind {
	case ofReplicaSet:
		w.Name = of + "-" + hash + "-" + l.hash(suffix)
		more["pod-template-hash"] = hash
	case ofStatefulSet:
		w.Name = fmt.Sprint(of, "-", i)
		more["apps.kubernetes.io/pod-index"], more["controller-revision-hash"], more["statefulset.kubernetes.io/pod-name"] = fmt.Sprint(i), of+"-"+hash, w.Name
	case ofDaemonSet:
		more["controller-revision-hash"], more["pod-template-generation"] = hash, "1"
	case ofJob:
		more["job-name"], more["batch.kubernetes.io/job-name"], more["batch.kubernetes.io/controller-uid"] = of, of, l.anyUID()
	}
	l.label(w, of, kind, more)
	if w.Labels != nil {
		maps.Copy(more, w.Labels)
		w.Labels = more
	}
	return w
}

// isManifold reports whether the workload of the set has many pods, each of which is asked about.
func (t turn) isManifold() bool { return t%112 == 60 }

// manyPods gives the first workload more pods, with all that the first one has.
func (l *lister) manyPods() {
	of := l.set.Inbounds[0]
	for range l.Number(15, 25) {
		in := of
		in.Workload = l.podOf(of.Workload, ofDaemonSet, 0, l.hash(8))
		in.Workload.Labels, in.IP = of.Workload.Labels, l.Address()
		l.set.Inbounds = append(l.set.Inbounds, in)
		if len(l.set.Options.Peers) > 0 {
			l.set.Options.Peers = append(l.set.Options.Peers, language.Peer{Workload: in.Workload, Identity: in.Identity, IP: in.IP})
		}
	}
}
