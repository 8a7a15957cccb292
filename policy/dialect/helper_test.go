package dialect_test

import (
	"testing"

	"github.com/meshproof/meshproof/internal/dialecttest"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/dialect"
	"github.com/meshproof/meshproof/policy/language"
)

var documents = dialecttest.Documents

// fixture is a set with every list, both forms and several ranks.
const fixture = `type: MeshTrafficPermission
mesh: default
name: operator
spec:
  default:
    deny:
      - spiffeId: {type: Prefix, value: spiffe://td/evil/}
      - path: {type: Prefix, value: /admin}
        method: DELETE
    allow:
      - path: {type: Exact, value: /health}
---
apiVersion: kuma.io/v1alpha1
kind: MeshTrafficPermission
metadata: {name: owner, namespace: shop}
spec:
  targetRef: {kind: Dataplane, labels: {app: backend}}
  rules:
    - default:
        allow:
          - spiffeId: {type: Prefix, value: spiffe://td/}
            method: GET
          - spiffeId: {type: Exact, value: spiffe://td/web}
    - default:
        allowWithShadowDeny:
          - spiffeId: {type: Prefix, value: spiffe://td/legacy}
---
apiVersion: kuma.io/v1alpha1
kind: MeshTrafficPermission
metadata: {name: elsewhere, namespace: finance}
spec:
  default:
    allow:
      - spiffeId: {type: Prefix, value: spiffe://td/}
`

func parse(t testing.TB, yaml string, opts language.Options) language.Policies {
	t.Helper()
	set, err := dialect.Parse(documents(t, yaml), opts)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// options are those of a line of YAML.
func options(t testing.TB, yaml string) language.Options {
	t.Helper()
	return language.Options{Document: documents(t, yaml)[0]}
}

func inbounds() []policy.Inbound {
	backend := policy.Workload{Name: "backend", Namespace: "shop", Labels: map[string]string{"app": "backend"}}
	return []policy.Inbound{
		{Workload: backend, Name: "api", Port: 8080, Protocol: policy.HTTP},
		{Workload: backend, Port: 9090, Protocol: policy.GRPC},
		{Workload: backend, Port: 5432, Protocol: policy.TCP},
		{Workload: policy.Workload{Name: "ledger", Namespace: "finance"}, Port: 80, Protocol: policy.HTTP2},
	}
}

// requests returns all callers of the fixture and their neighbours, each with all methods and
// paths; on L4 there are none.
func requests(in policy.Inbound) []policy.Request {
	var out []policy.Request
	for _, uris := range [][]string{
		nil, {"spiffe://td/web"}, {"spiffe://td/web2"}, {"spiffe://td/evil/x"}, {"spiffe://td/evil"}, {"spiffe://td/legacy"}, {"spiffe://td/legacy/x"},
		{"spiffe://td2/web"}, {"spiffe://td/web", "spiffe://td/evil/x"}, {"spiffe://td/evil/x", "spiffe://td/web"},
	} {
		if in.Protocol.Layer() == policy.L4 {
			out = append(out, policy.Request{URIs: uris})
			continue
		}
		for _, method := range []string{"GET", "HEAD", "DELETE", "get"} {
			for _, path := range []string{"/", "/health", "/health?x", "/health/", "/admin", "/admin/x", "/administrator", "*"} {
				out = append(out, policy.Request{URIs: uris, Method: method, Path: path})
			}
		}
	}
	return out
}
