package verdict

import (
	"slices"
	"strings"

	"github.com/meshproof/meshproof/policy"
)

// Reasons returns the rules that lead the gates and the shadows to their verdicts, as
// text. [policy.Explain] returns the traces of the request. A reason is ""
// where no gate decides, or no shadow is asked. A long condition is abridged.
func Reasons(traces []policy.Trace, r policy.Request) (decision, shadow string) {
	for _, t := range traces {
		switch {
		case !t.Decides:
		case t.Shadow:
			shadow = reasonOf(t, r)
		default:
			decision = reasonOf(t, r)
		}
	}
	return decision, shadow
}

// reasonOf follows the rules that led to the verdict: the decisive rule, then the rule
// within it that decided, and so on.
func reasonOf(t policy.Trace, r policy.Request) string {
	var conditions []string
	for rules := t.Gate.Rules; ; {
		i := slices.IndexFunc(rules, func(rule policy.Rule) bool { return rule.Matches(&r) })
		if i < 0 {
			break
		}
		conditions = append(conditions, abridge(rules[i].When.String()))
		rules = rules[i].Then
	}
	if len(conditions) == 0 {
		return t.Verdict.String() + ": no rule matches"
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
