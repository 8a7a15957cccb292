// Package counterexample makes small cases out of cases that fail.
//
// [Shrink] guarantees that its result fails in the same way as the case that it was made
// of, and that it can be written to a case file. It does not guarantee that no smaller
// case exists.
package counterexample
