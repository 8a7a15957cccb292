package authorization_test

import (
	"testing"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/internal/dialecttest"
	"github.com/meshproof/meshproof/policy/istio/internal/authorization"
	"github.com/meshproof/meshproof/policy/manifest"
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

// init adds authorizers as a case states them: the fields of a provider have no other name outside.
func init() {
	docs, err := manifest.Parse("options.yaml", []byte("istio: {rootNamespace: istio-system, trustDomain: td, trustDomainAliases: [old-td], extensionProviders: ["+
		"{name: opa, envoyExtAuthzGrpc: {}}, {name: down, envoyExtAuthzGrpc: {}, unreachable: true}, {name: open, envoyExtAuthzGrpc: {failOpen: true}, unreachable: true}]}"))
	if err == nil {
		options, err = authorization.ReadOptions(docs[0], spiffeid.TrustDomain{})
	}
	if err != nil {
		panic(err)
	}
}
