// Package ads puts a whole control plane under test, as a [suite.Compiler]: it asks the
// control plane over ADS for the listeners of each inbound's proxy, takes the
// authorization filters out of them, and leaves it to the suite to run them in the lab.
//
// Each inbound is a node of its own. Its metadata has, under "meshproof", the question
// that package plugin asks a compiler: inbound, policies, options. A control plane that
// heeds it needs no other way to learn the policies of a case; one that does not serves
// what it has in its own store.
//
// The package guarantees that a control plane which does not answer, or answers what
// cannot be replayed, is never taken for one that refuses policies, nor for one that
// decides as specified: that is an [*Error]. Besides filters that it does not understand,
// or that stand in front of RBAC, it reports a listener that normalizes paths less than
// the lab's does by default: its RBAC filters would see other paths. The transport of the
// listener is not looked at, for the lab has its own.
//
// A control plane cannot refuse policies over ADS: there is no answer that says so. Cases
// with expectError therefore fail for it, unless they are exempt.
package ads
