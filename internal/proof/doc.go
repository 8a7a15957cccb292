// Package proof makes statements about all requests of an inbound: it cuts them into
// classes that the policies decide alike, and asks for one request of each class and for
// requests on the border of a class.
//
// [Plan] turns the policies of a case into a case with those requests. A runner holds it
// against a real Envoy like any other case, and [Proof.Judge] draws the verdict from the
// result. The package guarantees that no class is left out: a class that no caller can
// reach is kept, with the reason. [Compare] does the same for two sets of policies, and
// finds every class that they decide differently.
//
// It decides nothing itself: package classes cuts, and package verdict says what must
// become of a request.
package proof
