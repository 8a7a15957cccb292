package authorization_test

import (
	"testing"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/istio/internal/authorization"
	"github.com/meshproof/meshproof/policy/manifest"
)

func documents(t testing.TB, yaml string) []manifest.Document {
	t.Helper()
	docs, err := manifest.Parse("p.yaml", []byte(yaml))
	if err != nil {
		t.Fatal(err)
	}
	return docs
}

func parseAll(t testing.TB, yaml string) []authorization.Policy {
	t.Helper()
	ps, err := authorization.ParseAll(documents(t, yaml))
	if err != nil {
		t.Fatalf("%v:\n%s", err, yaml)
	}
	return ps
}

// one is a policy with this head and spec.
func one(name, spec string) string {
	return "---\n{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: " + name + "}, spec: {" + spec + "}}\n"
}

var options = authorization.Options{RootNamespace: "istio-system", TrustDomain: "td", TrustDomainAliases: []string{"old-td"}}

func inbounds() []policy.Inbound {
	backend := policy.Workload{Name: "backend", Namespace: "default", Labels: map[string]string{"app": "backend", "tier": "data"}}
	return []policy.Inbound{
		{Workload: backend, Name: "http-port", Port: 8080, Protocol: policy.HTTP},
		{Workload: backend, Name: "tcp-port", Port: 5432, Protocol: policy.TCP},
		{Workload: policy.Workload{Name: "frontend", Labels: map[string]string{"app": "frontend"}}, Port: 9090, Protocol: policy.GRPC},
		{Workload: policy.Workload{Name: "ledger", Namespace: "finance", Labels: map[string]string{"app": "backend"}}, Port: 8080, Protocol: policy.HTTP2},
	}
}
