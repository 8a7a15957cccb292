package matrix

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/meshproof/meshproof/internal/feature"
)

// clusters are what a whole cluster shows, and no part of it by itself: a compiler that is open where one of them holds is right for what
// a person writes.
var clusters = map[string]is{
	"a pod of a ReplicaSet":       func(q question) bool { return ofReplicaSet(ownWorkload(q).Name, ownWorkload(q).Labels) },
	"a caller of a ReplicaSet":    peers(func(_ question, p peer) bool { return ofReplicaSet(p.Workload.Name, p.Workload.Labels) }),
	"three pods with one account": func(q question) bool { return most(identities(q)) > 2 },
	"eight peers in order":        func(q question) bool { return len(q.Peers) > 7 && slices.IsSorted(listed(q.Peers)) },
	"eight peers of one network": func(q question) bool {
		of := networksOf(q)
		return len(q.Peers) > 7 && len(of) == 1 && !of["10.64"] // the network of the cases
	},
	"peers with usual labels":     func(q question) bool { return len(q.Peers) > 5 && everyPeerHas(q, "app.kubernetes.io/name") },
	"policies beside all callers": func(q question) bool { return len(q.Policies) > 3 && namespacesHavePolicies(q) },
	"a caller of a StatefulSet": peers(func(_ question, p peer) bool {
		return p.Workload.Labels["statefulset.kubernetes.io/pod-name"] == p.Workload.Name
	}),
	"a caller of a Job": peers(func(_ question, p peer) bool { return p.Workload.Labels["batch.kubernetes.io/job-name"] != "" }),
	"the labels of a chart": func(q question) bool {
		of := ownWorkload(q).Labels
		return of["app.kubernetes.io/instance"] != "" && of["app.kubernetes.io/component"] != ""
	},
	"pods that a chart labels as its own": func(q question) bool { return ownWorkload(q).Labels["app.kubernetes.io/managed-by"] == "Helm" },
	"pods with the labels of their node":  func(q question) bool { return ownWorkload(q).Labels["topology.kubernetes.io/zone"] != "" },
	"pods with the label of a component":  func(q question) bool { return ownWorkload(q).Labels["k8s-app"] != "" },
	"a port that is called http":          func(q question) bool { return q.Inbound.Name == "http" },
	"objects of which the newest is young": func(q question) bool {
		newest := time.Time{}
		for _, p := range q.Policies {
			if at, err := time.Parse(time.RFC3339, fmt.Sprint(metadata(p)["creationTimestamp"])); err == nil && at.After(newest) {
				newest = at
			}
		}
		return newest.Before(dayOfTests) && newest.After(dayOfTests.AddDate(0, -1, 0))
	},
	"objects without managers": func(q question) bool {
		return everyPolicyHas(q, "uid", true) && everyPolicyHas(q, "managedFields", false)
	},
	"objects of one release": func(q question) bool {
		return len(q.Policies) > 3 && !slices.ContainsFunc(q.Policies, func(p map[string]any) bool {
			annotations, _ := metadata(p)["annotations"].(map[string]any)
			return annotations["meta.helm.sh/release-name"] == nil
		})
	},
	"policies whose times are true": func(q question) bool {
		return len(q.Policies) > 3 && !slices.ContainsFunc(q.Policies, func(p map[string]any) bool { return !timesAreTrue(p) })
	},
}

// injectorLabels are labels that the injector of a mesh, or its agent, gives pods.
var injectorLabels = map[feature.Profile]map[string]is{
	feature.KumaMTP:       {"a pod with a sidecar of Kuma": hasLabel("kuma.io/sidecar-injection"), "a pod of a mesh": hasLabel("kuma.io/mesh"), "a pod of a namespace": hasLabel("k8s.kuma.io/namespace")},
	feature.IstioAuthz:    {"a pod with a sidecar of Istio": hasLabel("sidecar.istio.io/inject"), "a pod of a network": hasLabel("topology.istio.io/network")},
	feature.LinkerdAuthz:  {"a pod of a Deployment": hasLabel("linkerd.io/proxy-deployment"), "a pod of a workload": hasLabel("linkerd.io/workload-ns")},
	feature.CiliumIngress: {"a pod with a label of Cilium": hasLabel("io.cilium/app")},
}

func hasLabel(key string) is {
	return func(q question) bool { return ownWorkload(q).Labels[key] != "" }
}

func ofReplicaSet(name string, labels map[string]string) bool {
	hash := labels["pod-template-hash"]
	return hash != "" && strings.Contains(name, "-"+hash+"-")
}

// most returns how often the most frequent text is there.
func most(texts []string) int {
	count, out := map[string]int{}, 0
	for _, text := range texts {
		count[text]++
		out = max(out, count[text])
	}
	return out
}

func listed(peers []peer) (out []string) {
	for _, p := range peers {
		out = append(out, p.Workload.Namespace+"/"+p.Workload.Name)
	}
	return out
}

// networksOf returns the first two numbers of the addresses of peers.
func networksOf(q question) map[string]bool {
	out := map[string]bool{}
	for _, p := range q.Peers {
		out[strings.Join(strings.SplitN(p.Address, ".", 3)[:2], ".")] = true
	}
	return out
}

func everyPeerHas(q question, label string) bool {
	return !slices.ContainsFunc(q.Peers, func(p peer) bool { return p.Workload.Labels[label] == "" })
}

// everyPolicyHas reports whether there are four policies or more, all with a field of metadata, or all without it.
func everyPolicyHas(q question, field string, has bool) bool {
	return len(q.Policies) > 3 && !slices.ContainsFunc(q.Policies, func(p map[string]any) bool { return (metadata(p)[field] != nil) != has })
}

// namespacesHavePolicies reports whether callers of three namespaces or more are there, each with a policy beside it.
func namespacesHavePolicies(q question) bool {
	of, with := map[string]bool{}, map[string]bool{}
	for _, p := range q.Policies {
		of[fmt.Sprint(metadata(p)["namespace"])] = true
	}
	for _, p := range q.Peers {
		with[p.Workload.Namespace] = true
		if !of[p.Workload.Namespace] {
			return false
		}
	}
	return len(with) > 2
}

// dayOfTests is the day of the seeds that have none.
var dayOfTests = time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)

// timesAreTrue reports whether an object was written behind its creation, and before this test was.
func timesAreTrue(p map[string]any) bool {
	m := metadata(p)
	created, err := time.Parse(time.RFC3339, fmt.Sprint(m["creationTimestamp"]))
	managers, _ := m["managedFields"].([]any)
	if err != nil || len(managers) == 0 || created.Year() > 2026 {
		return false
	}
	return !slices.ContainsFunc(managers, func(v any) bool {
		of, _ := v.(map[string]any)
		at, err := time.Parse(time.RFC3339, fmt.Sprint(of["time"]))
		return err != nil || at.Before(created) || at.Year() > 2026
	})
}
