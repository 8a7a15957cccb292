package proof

import (
	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/classes"
)

// formerly is the inbound of that name in the old case, the new one where it has none. It
// speaks the new protocol, in which both are asked.
func formerly(before cases.Case, in cases.Inbound) cases.Inbound {
	for _, was := range before.Inbounds {
		if was.String() != in.String() {
			continue
		}
		was.Protocol = in.Protocol
		if was.Protocol.Layer() == policy.L4 {
			was.Routes = nil
		}
		return was
	}
	return in
}

// plaintext returns what becomes of a request in plaintext, and what a case has to want of
// it.
func plaintext(in verdict.Inbound, r policy.Request) (Opinion, cases.Want) {
	q := in.Request(r)
	q.From = verdict.Plaintext
	switch e := in.Expect(q).(type) {
	case verdict.HandshakeFails:
		return Opinion{Reason: e.Why}, q.Want
	case verdict.Unjudged:
		return Opinion{Decision: policy.Decision{Verdict: policy.Verdict{Effect: policy.Allow}}, Reason: "plaintext passes a permissive inbound unjudged"}, q.Want
	default:
		return opinion(in, r), q.Want
	}
}

// plaintextChanges are what changes for callers in plaintext, where either inbound lets
// them in: one change for all requests of which both sides say the same.
func plaintextChanges(cover *classes.Cover, was, is verdict.Inbound) []Change {
	if !was.Permissive && !is.Permissive {
		return nil
	}
	type opinions struct{ old, recent Opinion }
	seen := map[opinions]bool{}
	var out []Change
	for _, class := range cover.Classes {
		r := class.Witness
		r.URIs, r.DNS = nil, nil
		old, wanted := plaintext(was, r)
		recent, wants := plaintext(is, r)
		if old.Decision == recent.Decision || seen[opinions{old, recent}] {
			continue
		}
		seen[opinions{old, recent}] = true
		q := cases.Request{To: is.String(), Method: r.Method, Path: r.Path, From: verdict.Plaintext, Place: "plaintext", Want: wants}
		change := Change{Text: "callers in plaintext", Witness: r, Old: old, New: recent, Request: q, was: q}
		change.was.Want = wanted
		out = append(out, change)
	}
	return out
}
