// Package counterexample makes small cases out of cases that fail.
//
// [Shrink] guarantees that its result fails in the same way as the case that it was made
// of, and that it can be written to a case file. It does not guarantee that no smaller
// case exists. [Finder] chooses what is worth shrinking, one request of each cause, and
// writes the results as case files. The package starts no Envoy: it is told how to run a
// case.
package counterexample
