package authorization_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/policy"
)

// TestLintWhatCallersChoose warns where a rule trusts what every caller may write: a server name, or an address in a header.
func TestLintWhatCallersChoose(t *testing.T) {
	t.Parallel()
	const (
		remote = "from: [{source: {remoteIpBlocks: [10.0.0.0/8]}}]"
		sni    = "when: [{key: connection.sni, values: [a.example]}]"
		notSNI = "when: [{key: connection.sni, notValues: [a.example]}]"
	)
	gateway := inbounds()[:1]
	gateway[0].Workload.Labels = map[string]string{"istio": "ingressgateway"}
	behindTwo := inbounds()[:1]
	behindTwo[0].TrustedHops = 2
	http, tcp := inbounds()[:1], inbounds()[1:2]
	for _, tt := range []struct {
		name, action, rule string
		inbounds           []policy.Inbound
		want               []string
	}{
		{"a DENY of a server name", "DENY", sni, http, []string{"deny-by-server-name when[0].values[0]"}},
		{"it on tcp", "DENY", sni, tcp, []string{"deny-by-server-name when[0].values[0]"}},
		{"a DENY of other server names", "DENY", notSNI, http, nil},
		{"a DENY of a server name that no caller sends", "DENY", "when: [{key: connection.sni, values: [A.example]}]", http, []string{"never-matches when[0].values[0]"}},
		{"an ALLOW of a server name", "ALLOW", sni, http, nil},
		{"an ALLOW of other server names", "ALLOW", notSNI, http, []string{"deny-by-server-name when[0].notValues[0]"}},
		{"an ALLOW of server names with an exception", "ALLOW", "when: [{key: connection.sni, values: ['*.example'], notValues: [a.example]}]", http, nil},
		{"an ALLOW without a server name", "ALLOW", "when: [{key: connection.sni, notValues: ['*']}]", http, nil},
		{"an AUDIT of a server name", "AUDIT", sni, http, nil},
		{"an ALLOW of a remote address", "ALLOW", remote, http, []string{"forwarded-address from[0].source.remoteIpBlocks"}},
		{"a DENY of one", "DENY", "from: [{source: {notRemoteIpBlocks: [10.0.0.0/8]}}]", http, []string{"forwarded-address from[0].source.notRemoteIpBlocks"}},
		{"a condition", "DENY", "when: [{key: remote.ip, values: [10.0.0.0/8]}]", http, []string{"forwarded-address when[0].values"}},
		{"the address of the connection", "DENY", "from: [{source: {ipBlocks: [10.0.0.0/8]}}]", http, nil},
		{"a remote address on tcp", "ALLOW", remote, tcp, nil},
		{"a remote address on a port of tcp", "DENY", remote + ", to: [{operation: {ports: ['5432']}}]", inbounds()[:2], nil},
		{"a remote address on a gateway", "ALLOW", remote, gateway, nil},
		{"a remote address behind two proxies", "ALLOW", remote, behindTwo, nil},
		{"an AUDIT of a remote address", "AUDIT", remote, http, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, w := range warnings(t, one("p", "action: "+tt.action+", rules: [{"+tt.rule+"}]"), slices.Clone(tt.inbounds), token.Demand{}) {
				w, _, _ = strings.Cut(strings.Replace(w, "spec.rules[0].", "", 1), ":")
				got = append(got, w)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
