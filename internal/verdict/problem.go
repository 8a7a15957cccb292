package verdict

import "fmt"

// Kind tells what is wrong with a request.
type Kind uint8

// The kinds of problems.
const (
	// Contradiction is evidence that proves nothing: its sides disagree, or the transport
	// failed. Found is the error.
	Contradiction Kind = iota
	// OtherWant is an end of the request that the case does not want.
	OtherWant
	// NotKeptOut is a caller that mTLS should have kept out. Expected is why.
	NotKeptOut
	// NotRejected is a path that the listener should have refused. Expected is why.
	NotRejected
	// OtherOpinion is a contradiction between the decision program and the plain evaluator
	// of the dialect.
	OtherOpinion
	// OtherDecision is a decision that differs from that of the policies, or the same
	// decision by another policy.
	OtherDecision
	// OtherLayer is a refusal by a filter of another layer.
	OtherLayer
	// OtherShadowRun is a shadow that ran, or did not, against the policies.
	OtherShadowRun
	// OtherShadow is a decision of the shadow that differs from that of the policies.
	OtherShadow
	// OtherFilters is a filter that ran, or said, something else than its gate, although
	// all filters together may have come to the right decision.
	OtherFilters
	// OtherShadows is the same of the shadows.
	OtherShadows
	// OtherPath is a path that the upstream saw and the policies did not.
	OtherPath
	// OtherStatedShadow, OtherStatedBy and OtherStatedShadowBy are something else than
	// the case states of the shadow, of the policy that decided, and of the policy that
	// decided in the shadow.
	OtherStatedShadow
	OtherStatedBy
	OtherStatedShadowBy
)

// The texts have what was expected first, and what was found second.
var texts = [...]string{
	Contradiction:       "%[2]s",
	OtherWant:           "the case wants %s, Envoy says %s",
	NotKeptOut:          "mTLS should keep the caller out (%s), Envoy says %s",
	NotRejected:         "the listener should answer 400 (%s), Envoy says %s",
	OtherOpinion:        "the oracle says %s, the plain evaluator %s: meshproof contradicts itself",
	OtherDecision:       "the policies say %s, Envoy says %s",
	OtherLayer:          "the refusal should come from an %s filter, Envoy refused on %s",
	OtherShadowRun:      "a shadow should run: %s, a shadow ran: %s",
	OtherShadow:         "the shadow should say %s, Envoy's says %s",
	OtherFilters:        "the gates should say (%s), Envoy's filters say (%s)",
	OtherShadows:        "the shadows should say (%s), Envoy's say (%s)",
	OtherPath:           "the upstream saw path %[2]q, judged was %[1]q",
	OtherStatedShadow:   "the case wants shadow %s, Envoy says %s",
	OtherStatedBy:       "the case wants it decided by %s, Envoy names %s",
	OtherStatedShadowBy: "the case wants the shadow decided by %s, Envoy names %s",
}

// Problem is one difference between what must become of a request and what became of it.
type Problem struct {
	Kind Kind
	// Expected and Found are what differs, in a few words each.
	Expected, Found string
}

// String returns a sentence without a full stop.
func (p Problem) String() string { return fmt.Sprintf(texts[p.Kind], p.Expected, p.Found) }
