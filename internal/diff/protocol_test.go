package diff

import (
	"slices"
	"strings"
	"testing"
)

// TestProtocolsOfServers changes the protocol of a Server to each other one. What both sides take is compared, and the rest is told:
// it is no error, for nobody can change an inbound that no file has.
func TestProtocolsOfServers(t *testing.T) {
	t.Parallel()
	sides := func(says, account string) string {
		return "---\n{apiVersion: policy.linkerd.io/v1beta3, kind: Server, metadata: {name: s, namespace: x}, spec: {podSelector: {matchLabels: {app: b}}, port: 4317, proxyProtocol: " + says + "}}\n" +
			"---\n{apiVersion: policy.linkerd.io/v1alpha1, kind: AuthorizationPolicy, metadata: {name: p, namespace: x}, spec: {targetRef: {group: policy.linkerd.io, kind: Server, name: s}, requiredAuthenticationRefs: [{kind: ServiceAccount, name: " + account + "}]}}\n"
	}
	all := []string{"unknown", "HTTP/1", "HTTP/2", "gRPC", "opaque", "TLS"}
	isSecond := func(says string) bool { return says == "HTTP/2" || says == "gRPC" }
	for _, was := range all {
		for _, is := range all {
			t.Run(was+" becomes "+is, func(t *testing.T) {
				t.Parallel()
				d := differenceOf(t, sides(was, "a"), sides(is, "a"))
				told := strings.Join(d.Failures(), "; ")
				if got, want := strings.Contains(told, "is not asked"), isSecond(was) != isSecond(is); got != want {
					t.Errorf("the failures are %q; they have to say what is not asked: %t", told, want)
				}
				// Versions 1 and 2 have connections in common, and no requests.
				if another := differenceOf(t, sides(was, "a"), sides(is, "b")); len(another.widenings()) == 0 && !(isSecond(was) && is == "HTTP/1") && !(isSecond(is) && was == "HTTP/1") {
					t.Errorf("another account gets in, and nothing is said of it")
				}
				if !slices.Equal(d.notAsked(), slices.Compact(d.notAsked())) {
					t.Errorf("what is not asked is told twice: %q", d.notAsked())
				}
			})
		}
	}
}
