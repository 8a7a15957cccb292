package capability

import (
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Router is a dialect with policies about the requests that workloads send: to which backend each
// of them goes, and how much time it may take.
type Router interface {
	// OwnsRouting reports whether a document is a route, a timeout or a service.
	OwnsRouting(doc manifest.Document) bool
	// ParseRouting reads documents that OwnsRouting tells. All errors are joined, one line each
	// with its place.
	ParseRouting(docs []manifest.Document, opts language.Options) (Routing, error)
}

// Routing is a set of routes, timeouts and services. Its targets are what the routes and timeouts
// select.
type Routing interface {
	Targeter
	// Outbounds returns the outbound side of a workload's sidecar, and what has no effect there.
	// The inbound is one of the workload's; a workload without inbounds has an empty one.
	Outbounds(of policy.Inbound) (routing.Proxy, []routing.Ignored)
	// Follow says what becomes of a request of the workload to an outbound, straight from the
	// text of the documents. It is a second opinion on Outbounds and on [routing.Outbound.Decide],
	// and shares no code with them but the parsing. Its limits have no origins. It reports false
	// where there is no such outbound.
	Follow(of policy.Inbound, outbound string, r policy.Request) (routing.Decision, bool)
	// InboundsBehind returns which of the inbounds take what is sent to a cluster.
	InboundsBehind(cluster string, inbounds []policy.Inbound) []policy.Inbound
	// Definitions returns what the documents say beside the outbound sides.
	Definitions() []routing.Definition
	// Mismatches returns what names a route that no workload has together with it, so that it
	// has no effect anywhere, and the backends that do not exist. The workloads are all that there are,
	// each as Outbounds takes it.
	Mismatches(workloads []policy.Inbound) []routing.Ignored
	// Strangers returns the services that state the identities of what is behind them, and an inbound behind
	// them that has none of these: a sidecar of a mesh refuses to send to it, and one of the lab does not.
	// IdentityOf gives the SPIFFE ID of a workload.
	Strangers(inbounds []policy.Inbound, identityOf func(policy.Workload) string) []routing.Ignored
	// Parts returns the parts of the routes and timeouts that may have an effect on a workload.
	Parts() []routing.Part
}
