package suite

import (
	"strings"

	"github.com/meshproof/meshproof/policy"
)

// decisive is the text of the rule by which the gates came to their decision: that
// of the gate that denies, or else of the last one.
func decisive(traces []policy.Trace, request policy.Request) string {
	for i, trace := range traces {
		last := i == len(traces)-1 || traces[i+1].Shadow
		if !trace.Shadow && (last || trace.Verdict.Effect == policy.Deny) {
			return ruleText(trace, request)
		}
	}
	return ""
}

func ruleText(trace policy.Trace, request policy.Request) string {
	chain := trace.Chain(request)
	if len(chain) == 0 {
		return trace.Verdict.String() + ": no rule matches"
	}
	conditions := make([]string, len(chain))
	for i, rule := range chain {
		conditions[i] = abridge(rule.When.String())
	}
	return trace.Verdict.String() + " when " + strings.Join(conditions, ", and within that ")
}

// ruleMax is as much of a condition as a reader takes in, in bytes; a list of
// identities may be a hundred times as long.
const ruleMax = 400

func abridge(condition string) string {
	if len(condition) <= ruleMax {
		return condition
	}
	return strings.ToValidUTF8(condition[:ruleMax], "") + "…"
}
