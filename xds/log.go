package xds

import (
	"net/netip"

	matcherv3 "github.com/cncf/xds/go/xds/type/matcher/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"

	"github.com/meshproof/meshproof/internal/authorizer"
	"github.com/meshproof/meshproof/policy"
)

// Engine is what one RBAC engine reported: the enforcing one, or the shadow.
type Engine struct {
	// Ran tells whether the engine reported at all.
	Ran     bool
	Verdict policy.Verdict
}

// FilterLog is what one RBAC filter reported. The verdict of a filter that only logs has
// the effect [policy.Log], and names the rule that logged the request, if any.
type FilterLog struct {
	FilterPlace
	Enforced, Shadow Engine
	// ShadowName is the name of the shadow. The access log does not have it: the harness
	// takes it from the filters of the inbound.
	ShadowName string
	// Asked tells whether the filter had the authorizer behind it asked.
	// AskedBy names the rule that matched.
	Asked   bool
	AskedBy string
}

// AccessLog is an entry of Envoy's access log, reduced to what is evidence.
type AccessLog struct {
	// Request is true for an HTTP request, false for a connection.
	Request bool
	// Caller and Destination are the addresses that the caller plays.
	Caller, Destination netip.AddrPort
	// Remote is the remote address: the caller's, or the address in a header that the inbound
	// trusts.
	Remote netip.Addr
	// PeerURIs are the URI SANs of the caller's certificate.
	PeerURIs []string
	// SNI is the server name of the caller's handshake, in lower case; empty for none.
	SNI string
	// Claims is the payload of the token that Envoy verified, as JSON; nil for none.
	Claims map[string]any
	// Enforced is the verdict of all enforcing engines together, and Shadow the verdict of all
	// shadows, see [AccessLog.SetFilters]. On a connection the observing filter reports
	// what Enforced says.
	Enforced, Shadow Engine
	// Filters has an entry for each filter that ran, in Envoy's order.
	Filters []FilterLog
	// Method, Path, Status and Details are those of an HTTP request; Path is the
	// normalized one.
	Method, Path string
	// Host is the authority of an HTTP request, and Headers has those headers that the inbound
	// shows in its log: all lines as one text, by the name in lower case.
	Host    string
	Headers map[string]string
	Status  uint32
	Details string
	// Termination says why Envoy closed a connection. For a refused connection it names
	// the policy.
	Termination string
	// TransportFailure says why the handshake failed.
	TransportFailure string
	// UpstreamBytes is what Envoy wrote to the upstream of a connection.
	UpstreamBytes uint64
}

// SetFilters sets what the filters reported, and the two verdicts that follow from it: the
// first verdict that denies stands for all, or else the last. A filter that only logs does
// not count.
func (l *AccessLog) SetFilters(filters []FilterLog) {
	l.Filters, l.Enforced, l.Shadow = filters, Engine{}, Engine{}
	combine := func(into *Engine, of Engine) {
		if of.Ran && (!into.Ran || into.Verdict.Effect != policy.Deny) {
			*into = of
		}
	}
	for _, filter := range filters {
		if !filter.Logs {
			combine(&l.Enforced, filter.Enforced)
		}
		combine(&l.Shadow, filter.Shadow)
	}
}

// FilterPlace tells one RBAC filter of an inbound from the others. Each place has stat
// prefixes of its own, which are also the prefixes of the keys under which the filter
// writes its dynamic metadata: two filters with one prefix would overwrite each other's.
type FilterPlace struct {
	Layer policy.Layer
	// Index counts the filters of the layer.
	Index int
	// Logs is true for a filter that only logs: it never refuses a request.
	Logs bool
	// Asks is true for a filter that has an authorizer behind it: both together decide.
	Asks bool
}

// Places returns the places of the filters: those of the network, then those of HTTP. The
// names of the counters follow from them.
func (f Filters) Places() []FilterPlace {
	out := make([]FilterPlace, 0, len(f.Network)+len(f.HTTP))
	for i, filter := range f.Network {
		out = append(out, FilterPlace{Layer: policy.L4, Index: i, Logs: onlyLogs(filter), Asks: has(f.NetworkAsks, i)})
	}
	for i, filter := range f.HTTP {
		same := []rbacFilter{filter}
		for _, route := range f.Routes {
			if i < len(route.HTTP) {
				same = append(same, route.HTTP[i])
			}
		}
		out = append(out, FilterPlace{Layer: policy.L7, Index: i, Logs: onlyLogs(same...), Asks: has(f.HTTPAsks, i)})
	}
	return out
}

func has(asks map[int]authorizer.Authorizer, index int) bool {
	_, ok := asks[index]
	return ok
}

// rbacFilter is an RBAC filter of either layer.
type rbacFilter interface {
	GetMatcher() *matcherv3.Matcher
	GetRules() *rbacv3.RBAC
}

// onlyLogs reports whether filters that share a place log, and do nothing else. A filter
// without rules does neither. Envoy judges by the matcher where there are rules beside it.
func onlyLogs(filters ...rbacFilter) bool {
	logs := false
	for _, filter := range filters {
		switch {
		case filter.GetMatcher() != nil:
			return false
		case filter.GetRules() != nil:
			if logs = filter.GetRules().Action == rbacv3.RBAC_LOG; !logs {
				return false
			}
		}
	}
	return logs
}
