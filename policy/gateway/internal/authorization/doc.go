// Package authorization reads the AuthorizationPolicy of GEP-3779, selects the
// policies of one inbound and lowers them to a decision program.
//
// A policy selects pods of its own namespace by their labels. Its rules name callers by
// SPIFFE ID or by Kubernetes service account, on all ports or on some. The only action
// is ALLOW. A pod that no policy selects lets everybody in. A pod that a policy selects
// lets in only the callers that a rule of its policies names. No policy takes away what
// another policy grants.
//
// The gate judges the connection on an inbound of any protocol, and a refusal closes it.
//
// The package guarantees that a policy it accepts means the same to [Lower] and to
// [Evaluate], two implementations that share nothing but the parsed text. An absent
// list, an empty list and a list with items stay three things, from the text to the
// program and back. A refusal names file, line and field. A list without a value is
// refused, since its author could mean absent or empty.
//
// A rule that names an SVID lets that identity in. A certificate with several URI or DNS
// SANs is no SVID; there one SAN that a rule names is enough, as in Envoy. The package
// refuses targets other than pods, for GEP-3779 gives them no meaning on the network
// level. It knows nothing of Envoy.
package authorization
