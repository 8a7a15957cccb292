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
// cannot be replayed, is never taken for one that refuses policies: that is an [*Error].
// A control plane refuses policies by serving a listener whose only filter chain says so,
// which no protocol provides for; cases that expect a refusal are not for it.
package ads
