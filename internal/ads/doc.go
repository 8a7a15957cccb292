// Package ads puts a whole control plane under test, as a [suite.Compiler]. It asks the
// control plane over ADS for the listeners of each inbound's proxy and takes the
// authorization filters out of them. The suite then runs the filters in the lab.
//
// Each inbound is a node of its own. Under "meshproof", the metadata of the node has the
// question that package plugin asks a compiler: inbound, policies, options. A control
// plane that reads it needs no other way to get the policies of a case. Other control
// planes serve the policies of their own store.
//
// The package guarantees that a control plane without a usable answer is an [*Error]. It
// is never taken for a control plane that refuses policies, or that decides as specified.
// Three kinds of answers are not usable: filters that the package does not understand,
// unknown filters in front of RBAC, and a listener that normalizes paths less than the
// lab does by default, since its RBAC filters would see other paths. The package does not
// look at the transport of the listener, because the lab has its own.
//
// ADS has no answer that refuses policies. Cases with expectError therefore fail for a
// control plane, unless they are exempt.
package ads
