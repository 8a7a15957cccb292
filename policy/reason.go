package policy

import "strings"

// Reason returns the rule by which the gates come to their decision, as text: the rule
// of the gate that decides. It is "" where no gate decides. A long condition is
// abridged.
func Reason(p Program, r Request) string {
	gates, _ := p.routed(&r)
	decides, verdict, _ := pass(gates, &r)
	if decides < 0 {
		return ""
	}
	return Trace{Gate: gates[decides], Verdict: verdict}.reason(r)
}

// ShadowReason returns the rule by which the shadows come to their verdict, as text; ""
// where no shadow is asked.
func ShadowReason(p Program, r Request) string {
	gates, shadows := p.routed(&r)
	_, _, passed := pass(gates, &r)
	decides, verdict := observe(shadows, gates, passed, &r)
	if decides < 0 {
		return ""
	}
	return Trace{Gate: shadows[decides], Verdict: verdict}.reason(r)
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

// reasonMax is the most of a condition that is printed, in bytes. A list of identities may
// be a hundred times as long.
const reasonMax = 400

func abridge(condition string) string {
	if len(condition) <= reasonMax {
		return condition
	}
	return strings.ToValidUTF8(condition[:reasonMax], "") + "…"
}
