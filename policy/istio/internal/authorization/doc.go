// Package authorization reads the AuthorizationPolicy of Istio, selects the policies of one
// inbound and lowers them to a decision program, as a sidecar has them.
//
// A policy applies to the workloads of its namespace that its selector names, and one of
// the root namespace to those of all namespaces. All policies of a workload are one pool.
// First DENY: a request that one of its rules matches is refused. Then ALLOW: where there is
// such a policy, a request needs a rule that matches it. AUDIT refuses nothing. A policy
// with the annotation istio.io/dry-run only observes.
//
// On HTTP the gates judge requests, on tcp connections. There a rule of an ALLOW that asks
// for a field of HTTP is left out, and a rule of a DENY or an AUDIT loses that field and
// becomes wider, as Istio has it.
//
// The package guarantees that [Lower] agrees with package evaluation; the two
// share nothing but the parsed text. It refuses what Istio's webhook refuses, and a field that
// it cannot judge: each refusal names file, line and field. A waypoint and a gateway have other
// rules, see the page docs/istio.md. The package knows nothing of Envoy.
package authorization
