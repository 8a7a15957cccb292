package authorization_test

import (
	"testing"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/internal/dialecttest"
	"github.com/meshproof/meshproof/policy/gateway/internal/authorization"
)

var documents = dialecttest.Documents

func parseAll(t testing.TB, yaml string) []authorization.Policy {
	t.Helper()
	return dialecttest.Policies(t, authorization.ParseAll, yaml)
}

// one is a policy with these parts of a spec.
func one(name, selector, rules string) string {
	text := "---\n{apiVersion: gateway.networking.x-k8s.io/v1alpha1, kind: XAuthorizationPolicy, metadata: {name: " + name +
		"}, spec: {targetRefs: [{kind: Pod, selector: " + selector + "}], action: ALLOW, enforcementLevel: Network"
	if rules != "" {
		text += ", rules: " + rules
	}
	return text + "}}\n"
}

var options = authorization.Options{TrustDomain: spiffeid.RequireTrustDomainFromString("td")}

var inbounds = dialecttest.Inbounds
