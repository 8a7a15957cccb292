package proof

import (
	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/classes"
	"github.com/meshproof/meshproof/policy/dialect"
)

// side is one inbound under one of two sets of policies.
type side struct {
	Inbound
	// judgesPlaintext is the dialect's, see [dialect.Program].
	judgesPlaintext bool
}

func sideOf(set dialect.Policies, in cases.Inbound) side {
	p := set.Program(in.Inbound)
	return side{Inbound{Inbound: in, Program: p.Program}, p.JudgesPlaintext}
}

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

func (s side) request(r policy.Request, of cases.Case) cases.Request {
	return request(s.Inbound, r, s.judgesPlaintext, of.TrustDomains[0])
}

// plaintext is what becomes of a request in plaintext: mTLS answers on a strict inbound,
// on a permissive one the policies do, or nobody.
func (s side) plaintext(r policy.Request) (Opinion, cases.Want) {
	switch {
	case !s.Permissive:
		return Opinion{Reason: "a strict inbound takes no plaintext"}, cases.HandshakeFailure
	case !s.judgesPlaintext:
		return Opinion{Decision: policy.Decision{Verdict: policy.Verdict{Effect: policy.Allow}}, Reason: "plaintext passes a permissive inbound unjudged"}, cases.Allow
	}
	o := opinion(s.Program, r)
	return o, wantOf(o.Decision)
}

// plaintextChanges are what changes for callers in plaintext, where either inbound lets
// them in: one change for all requests of which both sides say the same.
func plaintextChanges(cover *classes.Cover, was, is side) []Change {
	if !was.Permissive && !is.Permissive {
		return nil
	}
	type opinions struct{ old, recent Opinion }
	seen := map[opinions]bool{}
	var out []Change
	for _, class := range cover.Classes {
		r := class.Witness
		r.URIs, r.DNS = nil, nil
		old, wanted := was.plaintext(r)
		recent, wants := is.plaintext(r)
		if old.Decision == recent.Decision || seen[opinions{old, recent}] {
			continue
		}
		seen[opinions{old, recent}] = true
		q := cases.Request{To: is.String(), Method: r.Method, Path: r.Path, From: inPlaintext, Place: "plaintext", Want: wants}
		change := Change{Text: "callers in plaintext", Witness: r, Old: old, New: recent, Request: q, was: q}
		change.was.Want = wanted
		out = append(out, change)
	}
	return out
}
