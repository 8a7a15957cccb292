package diff

import (
	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/classes"
)

// plaintext returns what becomes of a request in plaintext, and what a case wants of it.
func plaintext(in verdict.Inbound, q cases.Request, r policy.Request) (Opinion, cases.Want) {
	switch e := in.Expect(q).(type) {
	case verdict.HandshakeFails:
		return Opinion{Reason: e.Why}, cases.HandshakeFailure
	case verdict.Unjudged:
		return Opinion{Decision: policy.Decision{Verdict: policy.Verdict{Effect: policy.Allow}}, Reason: "plaintext passes a permissive inbound unjudged"}, cases.Allow
	default:
		o := opinion(in, r)
		return o, verdict.Want(verdict.Judged{Decision: o.Decision})
	}
}

// plaintextChanges returns what changes for callers in plaintext, where either inbound
// lets them in. All requests of which each set says the same are one change.
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
		q := cases.Request{To: is.String(), Method: r.Method, Path: r.Path, From: verdict.Plaintext, Place: "plaintext"}
		change := Change{Text: "callers in plaintext", Witness: r, Request: q, was: q}
		change.Old, change.was.Want = plaintext(was, q, r)
		change.New, change.Request.Want = plaintext(is, q, r)
		both := opinions{change.Old, change.New}
		if change.Old.Decision == change.New.Decision || seen[both] {
			continue
		}
		seen[both] = true
		out = append(out, change)
	}
	return out
}
