package plugin

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
)

func TestOptionsJSON(t *testing.T) {
	t.Parallel()
	options := func(yaml string) language.Options {
		docs, err := manifest.Parse("options.yaml", []byte(yaml))
		if err != nil {
			t.Fatal(err)
		}
		return language.Options{Document: docs[0]}
	}
	opts := options("{legacyCompiler: full, kumaOption: 3, systemNamespace: control}")
	opts.TrustDomain = spiffeid.RequireTrustDomainFromString("a.mesh")
	got, err := OptionsJSON(opts)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"kumaOption":3,"shadowForm":"accepted","systemNamespace":"control","legacyCompiler":"full","istio":{"rootNamespace":"istio-system","trustDomainAliases":[],"normalization":"DEFAULT"},"cilium":{"policyEnforcement":"default","policyAuditMode":false,"clusterName":"default","namespaceLabels":{}},"linkerd":{"defaultInboundPolicy":"all-unauthenticated","identityDomain":"cluster.local","controlPlaneNamespace":"linkerd","loopbackBypass":false,"clusterNetworks":["10.0.0.0/8","100.64.0.0/10","172.16.0.0/12","192.168.0.0/16","fd00::/8"],"annotations":{}},"trustDomain":"a.mesh"}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// What other dialects have passes on as it was written.
	got, err = OptionsJSON(options(`{istio: {rootNamespace: mesh, trustDomain: a, trustDomainAliases: [a, b]}, cilium: {clusterName: east}, calico: {modes: [a, b], x: null}, kumaOption: 2}`))
	const more = `{"kumaOption":2,"shadowForm":"accepted","systemNamespace":"kuma-system","legacyCompiler":"compact",` +
		`"istio":{"rootNamespace":"mesh","trustDomain":"a","trustDomainAliases":["a","b"],"normalization":"DEFAULT"},"cilium":{"policyEnforcement":"default","policyAuditMode":false,"clusterName":"east","namespaceLabels":{}},"linkerd":{"defaultInboundPolicy":"all-unauthenticated","identityDomain":"cluster.local","controlPlaneNamespace":"linkerd","loopbackBypass":false,"clusterNetworks":["10.0.0.0/8","100.64.0.0/10","172.16.0.0/12","192.168.0.0/16","fd00::/8"],"annotations":{}},"calico":{"modes":["a","b"],"x":null},"trustDomain":"trust-domain.mesh"}`
	if diff := cmp.Diff(more, string(got)); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if _, err := OptionsJSON(options("{kumaOption: [1]}")); err == nil {
		t.Error("a list was taken for an option")
	}
}
