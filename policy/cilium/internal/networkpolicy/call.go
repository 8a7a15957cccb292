package networkpolicy

import (
	"cmp"
	"slices"
)

// call is what a rule of egress says of calls of the endpoint on some ports. It decides nothing of an inbound, but where
// Cilium cannot merge two calls, it applies none of the endpoint's policies, those of ingress neither.
type call struct {
	field string
	// ports and peers are those under which Cilium merges the call with others.
	ports, peers []string
	auth         string
	// proxy is the kind of proxy that gets the call, "" for none.
	proxy string
	// listener, terminating and originating are the texts of what the proxy is told, "" for nothing.
	listener, terminating, originating string
	hasNames                           bool
}

// The kinds of proxies.
const (
	proxyHTTP     = "http"
	proxyDNS      = "dns"
	proxyTLS      = "tls"
	proxyListener = "listener"
)

// callsOf returns the calls of a rule: one for each entry of its ports, or one for all ports.
func callsOf(field string, of Egress, to peers) []call {
	whole := call{field: field, ports: Ingress{ICMPs: of.ICMPs}.mergedOn(), peers: to.keys()}
	for _, name := range of.ToFQDNs {
		whole.peers = append(whole.peers, "the name "+written(name.MatchName, name.MatchPattern))
	}
	// Which endpoints and blocks these have, the cluster alone knows.
	for _, service := range of.ToServices {
		whole.peers = append(whole.peers, "the service "+written(service))
	}
	for _, group := range of.ToGroups {
		whole.peers = append(whole.peers, "the group "+written(group))
	}
	if of.Authentication != nil {
		whole.auth = of.Authentication.Mode
	}
	if len(of.ToPorts) == 0 {
		return []call{whole}
	}
	var out []call
	for i, entry := range of.ToPorts {
		c := whole
		c.field, c.ports, c.hasNames = item(field+".toPorts", i), Ingress{ToPorts: []PortRule{entry}}.mergedOn(), len(entry.ServerNames) > 0
		if entry.TerminatingTLS != nil {
			c.proxy, c.terminating = proxyTLS, written(entry.TerminatingTLS)
		}
		if entry.OriginatingTLS != nil {
			c.proxy, c.originating = proxyTLS, written(entry.OriginatingTLS)
		}
		if c.hasNames {
			c.proxy = proxyTLS
		}
		switch {
		case entry.Listener != nil:
			c.proxy, c.listener = proxyListener, written(entry.Listener)
		case entry.Rules != nil && len(entry.Rules.DNS) > 0:
			c.proxy = proxyDNS
		case entry.Rules != nil && len(entry.Rules.HTTP) > 0:
			c.proxy = proxyHTTP
		}
		out = append(out, c)
	}
	return out
}

// conflicts reports whether Cilium has to merge two calls, and may not be able to. (mergePortProto in pkg/policy/rule.go) Whether they
// differ is asked first: a policy may have thousands of calls on many ports, and few of them differ in what a merge looks at.
func (c *call) conflicts(other *call) bool {
	return c.differs(other) && haveCommon(c.ports, other.ports) && haveCommon(c.peers, other.peers)
}

// differs reports whether two calls say what Cilium cannot merge.
func (c *call) differs(other *call) bool {
	differ := func(a, b string) bool { return a != b && a != "" && b != "" }
	proxies := []string{c.proxy, other.proxy}
	slices.Sort(proxies)
	// Names of servers beside HTTP rules need TLS that ends at the proxy, in one order of the two.
	names := (c.hasNames || other.hasNames) && slices.Contains(proxies, proxyHTTP) && cmp.Or(c.terminating, other.terminating) == ""
	return differ(c.auth, other.auth) || differ(c.listener, other.listener) || differ(c.terminating, other.terminating) || differ(c.originating, other.originating) ||
		differ(c.proxy, other.proxy) && !slices.Equal(proxies, []string{proxyHTTP, proxyTLS}) || names
}
