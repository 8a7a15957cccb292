package authorization_test

import (
	"testing"

	"github.com/meshproof/meshproof/internal/dialecttest"
	"github.com/meshproof/meshproof/policy/istio/internal/authorization"
)

var documents = dialecttest.Documents

func parseAll(t testing.TB, yaml string) []authorization.Policy {
	t.Helper()
	return dialecttest.Policies(t, authorization.ParseAll, yaml)
}

// one is a policy with this head and spec.
func one(name, spec string) string {
	return "---\n{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: " + name + "}, spec: {" + spec + "}}\n"
}

var options = authorization.Options{RootNamespace: "istio-system", TrustDomain: "td", TrustDomainAliases: []string{"old-td"}}

var inbounds = dialecttest.Inbounds
