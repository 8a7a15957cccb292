package networkpolicy_test

import (
	"net/netip"
	"testing"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/internal/dialecttest"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/cilium/internal/networkpolicy"
	"github.com/meshproof/meshproof/policy/language"
)

func parseAll(t testing.TB, yaml string) []networkpolicy.Policy {
	t.Helper()
	return dialecttest.Policies(t, networkpolicy.ParseAll, yaml)
}

// one is a policy with this head and this body beside it.
func one(kind, head, body string) string {
	return "---\n{apiVersion: cilium.io/v2, kind: " + kind + ", metadata: {" + head + "}, " + body + "}\n"
}

func workloads() []policy.Workload {
	return []policy.Workload{
		{Name: "backend", Namespace: "default", Labels: map[string]string{"app": "backend", "tier": "data"}, ServiceAccount: "backend"},
		{Name: "frontend", Labels: map[string]string{"app": "frontend"}, ServiceAccount: "frontend"},
		{Name: "ledger", Namespace: "finance", Labels: map[string]string{"app": "backend"}, ServiceAccount: "ledger"},
		{Name: "liar", Namespace: "finance", Labels: map[string]string{"io.kubernetes.pod.namespace": "default", "app": "frontend", "io.cilium.k8s.namespace.labels.team": "a"}, ServiceAccount: "liar"},
	}
}

func peers() (out []language.Peer) {
	for i, w := range workloads() {
		out = append(out, language.Peer{Workload: w, Identity: spiffeid.RequireFromString("spiffe://td/" + w.Name), IP: netip.AddrFrom4([4]byte{10, 0, 0, byte(i + 1)})})
	}
	return out
}

func options() networkpolicy.Options {
	return networkpolicy.Options{PolicyEnforcement: "default", ClusterName: "default", NamespaceLabels: map[string]map[string]string{"finance": {"team": "b"}}, Peers: peers()}
}

func inbounds() []policy.Inbound {
	all := workloads()
	return []policy.Inbound{
		{Workload: all[0], Name: "http-port", Port: 8080, Protocol: policy.HTTP},
		{Workload: all[0], Name: "tcp-port", Port: 5432, Protocol: policy.TCP},
		{Workload: all[1], Port: 9090, Protocol: policy.GRPC},
		{Workload: all[2], Port: 8080, Protocol: policy.HTTP2},
	}
}
