package networkpolicy_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/policy/cilium/internal/networkpolicy"
)

// A selector is about pods of other clusters where it takes a cluster that is not the own one, whatever
// the own one is called.
func TestBreadthOfClusters(t *testing.T) {
	t.Parallel()
	const cluster = "{key: io.cilium.k8s.policy.cluster, operator: "
	for selector, want := range map[string]bool{
		"{}": false,
		"{matchLabels: {io.cilium.k8s.policy.cluster: east}}":                                    false,
		"{matchLabels: {io.cilium.k8s.policy.cluster: default}}":                                 true,
		"{matchExpressions: [" + cluster + "In, values: [east]}]}":                               false,
		"{matchExpressions: [" + cluster + "In, values: [east, west]}]}":                         true,
		"{matchExpressions: [" + cluster + "NotIn, values: [west]}]}":                            true,
		"{matchExpressions: [" + cluster + "Exists}]}":                                           true,
		"{matchExpressions: [" + cluster + "DoesNotExist}]}":                                     false,
		"{matchExpressions: [" + cluster + "Exists}, " + cluster + "In, values: [east]}]}":       false,
		"{matchExpressions: [" + cluster + "In, values: [a]}, " + cluster + "In, values: [b]}]}": false,
		"{matchLabels: {'reserved:host': ''}, matchExpressions: [" + cluster + "Exists}]}":       false,
	} {
		ps := parseAll(t, one("CiliumNetworkPolicy", "name: web, namespace: shop", "spec: {endpointSelector: {}, ingress: [{fromEndpoints: ["+selector+"]}]}"))
		closed := parseAll(t, one("CiliumNetworkPolicy", "name: web, namespace: shop", "spec: {endpointSelector: {}, ingress: [{}]}"))
		opts := networkpolicy.Options{ClusterName: "east"}
		got := networkpolicy.Broader(closed, ps, opts, opts)
		if slices.ContainsFunc(got, func(text string) bool { return strings.Contains(text, "other clusters") }) != want {
			t.Errorf("%s: %q", selector, got)
		}
	}
}

// A rule opens nothing where no policy was about the endpoints, unless the agent closes those too.
func TestBroaderThanNothing(t *testing.T) {
	t.Parallel()
	ps := parseAll(t, one("CiliumNetworkPolicy", "name: web, namespace: shop", "spec: {endpointSelector: {}, ingress: [{fromEntities: [host]}]}"))
	for enforcement, want := range map[string]bool{"": false, "default": false, "never": false, "always": true} {
		opts := networkpolicy.Options{PolicyEnforcement: enforcement}
		if got := networkpolicy.Broader(nil, ps, opts, opts); len(got) > 0 != want {
			t.Errorf("%q: %q", enforcement, got)
		}
	}
}

// Without the policy that closes endpoints they let in more than callers of the lab can show.
func TestBroaderWithoutWhatCloses(t *testing.T) {
	t.Parallel()
	ps := parseAll(t, one("CiliumNetworkPolicy", "name: web, namespace: shop", "spec: {endpointSelector: {matchLabels: {app: web}}, ingress: [{}]}"))
	const want = `each endpoint with app in ["web"], io.kubernetes.pod.namespace in ["shop"] is not closed any more: what no rule is about gets in, in every protocol`
	if got := networkpolicy.Broader(ps, nil, networkpolicy.Options{}, networkpolicy.Options{}); !slices.Equal(got, []string{want}) {
		t.Errorf("%q", got)
	}
}

// Where the agent does not drop any more, what no caller of the lab plays gets in too.
func TestBroaderWithoutEnforcement(t *testing.T) {
	t.Parallel()
	const udp = "{fromEntities: [world], toPorts: [{ports: [{port: '53', protocol: UDP}]}]}"
	closed, enforced := networkpolicy.Options{PolicyEnforcement: "default"}, networkpolicy.Options{PolicyEnforcement: "always"}
	for _, rules := range []string{"enableDefaultDeny: {ingress: false}, ingressDeny: [" + udp + "]", "ingress: [" + udp + ", {toPorts: [{ports: [{port: '0', protocol: TCP}]}]}]"} {
		ps := parseAll(t, one("CiliumNetworkPolicy", "name: web, namespace: shop", "spec: {endpointSelector: {}, "+rules+"}"))
		for _, open := range []networkpolicy.Options{{PolicyEnforcement: "never"}, {PolicyEnforcement: "default", PolicyAuditMode: true}} {
			if got := networkpolicy.Broader(ps, ps, closed, open); len(got) == 0 {
				t.Errorf("%s: nothing is let in by %v", rules, open)
			}
			if got := networkpolicy.Broader(ps, ps, open, closed); len(got) > 0 {
				t.Errorf("%s: %q", rules, got)
			}
		}
		if got := networkpolicy.Broader(ps, ps, closed, enforced); len(got) > 0 {
			t.Errorf("%s: %q", rules, got)
		}
	}
}
