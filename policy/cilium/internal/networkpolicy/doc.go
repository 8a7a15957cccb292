// Package networkpolicy reads the CiliumNetworkPolicy and the CiliumClusterwideNetworkPolicy,
// selects the rules of one inbound and lowers them to a decision program.
//
// A rule names peers by the labels of their workloads. The workloads are those of the case: a
// caller is a workload where its certificate has the identity of the workload, and else it is
// the world. Cilium itself knows a peer by its address, which the lab cannot forge for it.
//
// First the deny rules: a connection that one of them matches is closed. Then the allow rules:
// where a rule sets default deny, a connection needs an allow rule. Then the HTTP rules: a
// request passes by its HTTP rules only, unless an allow rule without HTTP rules lets the same
// peer in. Egress is read and checked, and has no part in the decision of an inbound.
//
// The package guarantees that [Lower] agrees with package evaluation; the two share nothing but
// the parsed text. It refuses what Cilium's validation refuses, and a field that it cannot
// judge: each refusal names file, line and field. It knows nothing of Envoy.
package networkpolicy
