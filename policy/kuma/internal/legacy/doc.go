// Package legacy compiles the from list of the first MeshTrafficPermission: items
// that name clients by tags, of which the last that meets a client decides.
//
// Envoy's named rules know no order, so the order has to be spelled out with
// negations. There are two compilers: [Full] lists every combination of tags with
// its action, as the first design describes it, and grows with two to the power
// of the number of tags; [Compact] grows with the number of items, and by a factor
// of its logarithm where they alternate more often than can be nested. The package
// guarantees that both decide alike on every certificate a control plane issues:
// one with a single value for each tag. On a certificate with two values of one
// tag they part: Full denies it, Compact lets the last item decide.
//
// It knows items and conditions. It reads no YAML, selects no policies and knows
// nothing of Envoy but its limit on nesting.
package legacy
