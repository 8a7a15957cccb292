// Package authorization reads the policies of Linkerd, selects those of one inbound and lowers them
// to a decision program.
//
// A Server takes a port of some workloads, and closes it. What opens it are an accessPolicy,
// ServerAuthorizations, and AuthorizationPolicies of the Server, of its namespace, or of one of its
// routes. Where the Server has routes, a request needs one before anybody is judged. Without a Server
// the default inbound policy decides alone.
//
// Linkerd knows a service account by a name such as web.shop.serviceaccount.identity.linkerd.cluster.local.
// Here the account has its SPIFFE ID in the trust domain of the mesh: this mapping is ours. A wildcard
// takes names of service accounts only, as the proxy compares no wildcard with a SPIFFE ID.
//
// The package guarantees that [Lower] agrees with package evaluation; the two share nothing but
// the parsed text. It refuses what Linkerd's webhook refuses, and what it cannot judge: each refusal
// names file, line and field. It knows nothing of Envoy.
package authorization
