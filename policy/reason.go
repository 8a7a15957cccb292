package policy

import "strings"

// Reason returns the rule by which the gates come to their decision, as text: that of
// the gate that denies, or else of the last one; "" where there is no gate. A long
// condition is abridged.
func Reason(p Program, r Request) string {
	gates, _ := p.routed(&r)
	for i, gate := range gates {
		verdict := gate.verdict(&r)
		if verdict.Effect == Deny || i == len(gates)-1 {
			return Trace{Gate: gate, Verdict: verdict}.reason(r)
		}
	}
	return ""
}

// ShadowReason returns the rule by which the shadow comes to its own decision; "" where
// there is no shadow.
func ShadowReason(p Program, r Request) string {
	_, shadows := p.routed(&r)
	if len(shadows) == 0 {
		return ""
	}
	return Trace{Gate: shadows[0], Verdict: shadows[0].verdict(&r)}.reason(r)
}

func (t Trace) reason(r Request) string {
	chain := t.Chain(r)
	if len(chain) == 0 {
		return t.Verdict.String() + ": no rule matches"
	}
	conditions := make([]string, len(chain))
	for i, rule := range chain {
		conditions[i] = abridge(rule.When.String())
	}
	return t.Verdict.String() + " when " + strings.Join(conditions, ", and within that ")
}

// reasonMax is as much of a condition as a reader takes in, in bytes; a list of
// identities may be a hundred times as long.
const reasonMax = 400

func abridge(condition string) string {
	if len(condition) <= reasonMax {
		return condition
	}
	return strings.ToValidUTF8(condition[:reasonMax], "") + "…"
}
