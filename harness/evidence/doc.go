// Package evidence decides what the traces of a request prove.
//
// It finds a decision only where all sides say the same: the answer that the caller saw,
// the request that the upstream saw, and the entry in Envoy's access log with the verdict
// of each filter. [Count] says how the counters of each filter must have moved. A deny is
// never inferred from silence. Where the sides disagree, the error says which of them.
//
// It does not know the policies, and it does not know what a case wants.
package evidence
