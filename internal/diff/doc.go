// Package diff tells what a change of policies changes: it cuts the requests to each
// inbound into classes that both sets of policies decide alike, and finds every class that
// they decide otherwise.
//
// It guarantees that no change is passed over: a case without a counterpart is named, an
// inbound that is not what it was is named, and callers in plaintext are compared too.
// What widens access is told from what does not. It reads no flags; [Difference.Confirm]
// alone needs an Envoy.
package diff
