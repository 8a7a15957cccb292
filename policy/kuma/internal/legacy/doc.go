// Package legacy compiles the from list of the first MeshTrafficPermission. Its items
// name clients by tags, and the last item that names a client decides.
//
// Envoy's named rules have no order, so the order is written out with negations.
// There are two compilers. [Full] lists every combination of tags with its action, as
// the first design describes it: the result grows with two to the power of the number
// of tags. [Compact] grows with the number of items n, or with n log n where the
// actions alternate more often than rules can be nested.
//
// The package guarantees that both compilers decide alike on every certificate that a
// control plane issues: such a certificate has one value for each tag. A certificate
// with two values of one tag is denied by Full; by Compact the last item decides.
//
// The package reads no YAML and selects no policies. Of Envoy it knows only the limit
// on nesting.
package legacy
