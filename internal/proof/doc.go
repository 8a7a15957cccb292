// Package proof makes a statement about every request of the requests that it asks
// for: it cuts them into classes that the policies decide alike, and asks for one of
// each class and for those on its border.
//
// [Plan] turns the policies of a case into a case with those requests, which a
// [suite.Runner] holds against a real Envoy like any other. What the package
// guarantees is that no class is left out: one that no caller can reach is kept, with
// the reason. [Compare] does the same for two sets of policies, and finds every class
// that they decide otherwise.
//
// It decides nothing itself: [classes.Of] cuts, [policy.Decide] and the plain
// evaluator of the dialect say what has to come of it.
package proof
