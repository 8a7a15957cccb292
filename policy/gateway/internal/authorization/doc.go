// Package gateway reads the AuthorizationPolicy of GEP-3779, selects the policies
// of one inbound and lowers them to a decision program.
//
// The policy selects pods of its own namespace by their labels and names whom
// they let in: SPIFFE IDs and Kubernetes service accounts, on all ports or on
// some. There is nothing but ALLOW. A pod that no policy selects takes everybody;
// as soon as one selects it, only those get in whom some rule of some policy
// names. Policies add up: none takes away what another grants.
//
// Enforcement is that of the network, whatever the inbound speaks: the gate
// judges the connection, and a refusal closes it.
//
// The package guarantees that a policy it accepts means the same to [Lower] and
// to [Evaluate], two implementations that share nothing but the parsed text, and
// that an absent list, an empty one and one with items stay three things from the
// text to the program and back. Whatever it refuses, it refuses with file, line
// and field; a value that could be taken for another one of the three, such as a
// list that was left without a value, is refused too.
//
// It does not look behind the certificate: whom an SVID names is whom it lets in.
// A certificate with several names, which no SVID has to be, is whom any of its
// URI and DNS SANs names, as Envoy reads it. It gives no meaning to targets other than pods, for the text defines
// none on the network level, and it knows nothing of Envoy.
package authorization
