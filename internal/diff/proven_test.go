package diff

import (
	"strings"
	"testing"
)

// A certificate proves each name in the lab, so that no request shows what a rule of Cilium without authentication lets in: such
// rules are held against each other by whom they let in, where and on which port.
func TestLessProof(t *testing.T) {
	t.Parallel()
	cnp := func(name string, ingress ...string) string {
		return "---\n{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: " + name + ", namespace: shop}, spec: {endpointSelector: {matchLabels: {app: web}}, ingress: [" + strings.Join(ingress, ", ") + "]}}\n"
	}
	const (
		fe      = "{matchLabels: {app: fe}}"
		be      = "{matchLabels: {app: be}}"
		proof   = ", authentication: {mode: required}"
		off     = ", authentication: {mode: disabled}"
		onPort  = ", toPorts: [{ports: [{port: '8080', protocol: TCP}]}]"
		onPorts = ", toPorts: [{ports: [{port: '8080', protocol: TCP}, {port: '9090', protocol: TCP}]}]"
	)
	from := func(peers, more string) string { return "{fromEndpoints: [" + peers + "]" + more + "}" }
	for name, tt := range map[string]struct {
		old, recent string
		found       bool
	}{
		"a caller moves into a rule that demands none": {cnp("p", from(be, ""), from(fe, proof)), cnp("p", from(be+", "+fe, "")), true},
		"two rules change places":                      {cnp("p", from(be, ""), from(fe, proof)), cnp("p", from(fe, ""), from(be, proof)), true},
		"the same on a port":                           {cnp("p", from(be, onPort), from(fe, onPort+proof)), cnp("p", from(fe, onPort), from(be, onPort+proof)), true},
		"it is off":                                    {cnp("p", from(be, ""), from(fe, proof)), cnp("p", from(be, ""), from(fe, off)), true},
		"another policy has it":                        {cnp("p", from(fe, proof)) + cnp("q", from(be, "")), cnp("q", from(be+", "+fe, "")), true},
		"two rules are one":                            {cnp("p", from(be, ""), from(fe, "")), cnp("p", from(be+", "+fe, "")), false},
		"another name, and rules in another order":     {cnp("p", from(be, ""), from(fe, proof)), cnp("q", from(fe, proof), from(be, off)), false},
		"a port less":                                  {cnp("p", from(be, onPorts), from(fe, proof)), cnp("p", from(be, onPort), from(fe, proof)), false},
		"nothing demands a proof":                      {cnp("p", from(be, "")), cnp("p", from(fe, "")), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opens := strings.Join(differenceOf(t, tt.old, tt.recent).Opens, "\n")
			if found := strings.Contains(opens, "demands no authentication"); found != tt.found {
				t.Errorf("found %t, want %t: %q", found, tt.found, opens)
			}
		})
	}
}
