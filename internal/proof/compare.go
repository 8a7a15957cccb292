package proof

import (
	"errors"
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/classes"
)

// Comparison is what differs between two sets of policies on one inbound.
type Comparison struct {
	// Inbound is the new one.
	Inbound cases.Inbound
	// Cover is the common refinement: each set decides each class alike.
	Cover *classes.Cover
	// Changes has the classes that are decided otherwise, in the cover's order, and
	// behind them the callers in plaintext whom the two sides take otherwise.
	Changes []Change
	// was is the inbound under the old policies.
	was cases.Inbound
}

// Change is a class of requests that two sets of policies decide otherwise.
type Change struct {
	// Text says which requests are of the class.
	Text string
	// Witness is one of them.
	Witness  policy.Request
	Old, New Opinion
	// Request is the witness as a case has it, with what the new policies want.
	Request cases.Request
	// was is the request under the old policies, with what they want.
	was cases.Request
}

// Opinion is what one set of policies says of a class.
type Opinion struct {
	Decision policy.Decision
	// Reason is the rule that decides, ShadowReason that of the shadow.
	Reason, ShadowReason string
}

// Kind tells what a change comes to.
type Kind uint8

const (
	// Widened access was denied and is allowed; Narrowed is the opposite.
	Widened Kind = iota
	Narrowed
	// ShadowChanged access is as it was, and the shadow is not.
	ShadowChanged
	// OriginChanged access is as it was, by another policy.
	OriginChanged
)

var kindNames = [...]string{Widened: "widened", Narrowed: "narrowed", ShadowChanged: "shadow", OriginChanged: "origin"}

// String returns one word.
func (k Kind) String() string { return kindNames[k] }

// Kind returns what the change comes to; the most serious thing counts.
func (c Change) Kind() Kind {
	was, is := c.Old.Decision, c.New.Decision
	switch {
	case was.Effect != is.Effect && is.Effect == policy.Allow:
		return Widened
	case was.Effect != is.Effect:
		return Narrowed
	case was.Shadowed != is.Shadowed || was.Shadow.Effect != is.Shadow.Effect:
		return ShadowChanged
	default:
		return OriginChanged
	}
}

// Compare cuts the requests to each inbound of the new case into classes that both
// cases' policies decide alike, and returns what differs, an entry for each inbound. Where
// the old case has an inbound of the same name, the old policies are read for that: its
// labels, tags and port. What is compared are requests in the new protocol. The policies
// may be of different dialects. It fails where either are refused.
func Compare(before, after cases.Case) ([]Comparison, error) {
	formers := make([]cases.Inbound, len(after.Inbounds))
	for i, in := range after.Inbounds {
		formers[i] = formerly(before, in)
	}
	before.Inbounds = formers
	old, errOld := verdict.Read(before)
	recent, errNew := verdict.Read(after)
	if err := errors.Join(errOld, errNew); err != nil {
		return nil, err
	}
	var out []Comparison
	for i, is := range recent.Inbounds() {
		was := old.Inbounds()[i]
		c := Comparison{Inbound: is.Inbound, was: was.Inbound, Cover: classes.Of(is.Surface(), was.Program.Program, is.Program.Program)}
		for n, class := range c.Cover.Classes {
			// A caller without a name comes in plaintext where an inbound takes it, see
			// plaintextChanges.
			if verdict.Nameless(class.Witness) && (was.Permissive || is.Permissive) {
				continue
			}
			change := Change{Text: class.String(), Witness: class.Witness, Old: opinion(was, class.Witness), New: opinion(is, class.Witness)}
			if change.Old.Decision == change.New.Decision {
				continue
			}
			place := fmt.Sprintf("class %d", n+1)
			change.was, change.Request = was.Request(class.Witness), is.Request(class.Witness)
			change.was.Place, change.Request.Place = place, place
			c.Changes = append(c.Changes, change)
		}
		c.Changes = append(c.Changes, plaintextChanges(c.Cover, was, is)...)
		out = append(out, c)
	}
	return out, nil
}

func opinion(in verdict.Inbound, r policy.Request) Opinion {
	p := in.Program.Program
	return Opinion{Decision: policy.Decide(p, r), Reason: policy.Reason(p, r), ShadowReason: policy.ShadowReason(p, r)}
}

// Confirm returns two cases that show the changes of all inbounds on an Envoy: the same
// requests, under the policies before and after. Each wants what its own policies say,
// and has its own inbounds: whether plaintext is let in, and judged, may differ.
func Confirm(before, after cases.Case, found []Comparison) (old, recent cases.Case) {
	old, recent = bare(before), bare(after)
	old.Inbounds = nil
	for _, c := range found {
		old.Inbounds = append(old.Inbounds, c.was)
		for _, change := range c.Changes {
			old.Requests, recent.Requests = append(old.Requests, change.was), append(recent.Requests, change.Request)
			if td := change.Request.From.SignedBy; !td.IsZero() && !slices.Contains(recent.TrustDomains, td) {
				recent.TrustDomains = append(recent.TrustDomains, td)
			}
		}
	}
	for _, td := range recent.TrustDomains {
		if !slices.Contains(old.TrustDomains, td) {
			old.TrustDomains = append(old.TrustDomains, td)
		}
	}
	return old, recent
}
