// Package rbac turns a gate into the form that an RBAC filter takes: a matcher for
// ordered rules, an envoy.config.rbac.v3.RBAC for named ones. One file for each
// attribute says how a filter asks for it.
//
// It guarantees that Envoy decides by the result as package policy decides by the gate.
// What a form cannot say is an error with the name of the attribute; no program makes
// the package panic. It knows no listener and no filter chain.
package rbac
