package networkpolicy_test

import (
	"slices"
	"testing"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/cilium/internal/networkpolicy"
)

// TestSelectorsCopyNoLabels holds every selector against workloads, and copies no labels for it: a folder with many policies
// asks millions of times, and the copies were most of its time.
func TestSelectorsCopyNoLabels(t *testing.T) {
	ps := parseAll(t, one("CiliumNetworkPolicy", "name: p, namespace: finance", `spec: {endpointSelector: {matchLabels: {app: backend, "k8s:tier": data}, matchExpressions: [{key: batch, operator: DoesNotExist}]},
  ingress: [{fromEndpoints: [{matchLabels: {"k8s:io.kubernetes.pod.namespace": finance, io.cilium.k8s.namespace.labels.team: b, io.cilium.k8s.policy.serviceaccount: ledger, topology.kubernetes.io/zone: a}}]}]}`))
	targets := slices.Concat(networkpolicy.Targets(ps, options()), networkpolicy.Peers(ps, options()))
	if len(targets) < 3 {
		t.Fatalf("there are %d targets: the policy has a subject on no port, the same subject as a peer, and a peer", len(targets))
	}
	for _, target := range targets {
		for _, in := range append(inbounds(), target.Fit(policy.Inbound{Workload: workloads()[3]})) {
			if got := testing.AllocsPerRun(10, func() { asked = target.Miss(in) }); got > mostOfReason {
				t.Errorf("%s: to be held against %s takes %.0f pieces of memory, more than the %d of a reason", target.Key, in, got, mostOfReason)
			}
		}
	}
}

// mostOfReason is more than the reason of one miss takes, which are the functions that would make its text, and less than a copy.
const mostOfReason = 6

// asked keeps the compiler from leaving the question out.
var asked capability.Reason
