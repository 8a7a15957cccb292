package classes

import (
	"math"
	"sync"

	"github.com/meshproof/meshproof/internal/claim"
	"github.com/meshproof/meshproof/internal/rewrite"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// byForm returns the programs with the presence of a claim asked form by form: a token has it as a
// text, as a list, as a number, or as what no other form shows. So each dimension stays that of one
// form.
func byForm(programs []policy.Program) []policy.Program {
	out := make([]policy.Program, len(programs))
	for i, p := range programs {
		out[i] = p
		if !asksPresence(p) {
			continue
		}
		out[i] = rewrite.Program(p, func(_ policy.Layer, is policy.Is) policy.Condition {
			if isPresence(is) {
				return inEachForm(is.Attribute)
			}
			return is
		})
	}
	return out
}

func asksPresence(p policy.Program) bool {
	for c := range p.Conditions() {
		if is, ok := c.(policy.Is); ok && isPresence(is) {
			return true
		}
	}
	return false
}

func isPresence(is policy.Is) bool {
	if is.Attribute == nil || is.Attribute.Family != "claim" {
		return false
	}
	_, form := claim.Path(is.Attribute.Key)
	return form == claim.Any
}

func inEachForm(a *policy.Attribute) policy.Or {
	path, _ := claim.Path(a.Key)
	in := func(form string) *policy.Attribute {
		return attribute.Claim(append(path[:len(path):len(path)], form)...)
	}
	anyNumber := policy.Match{Kind: policy.Range, Value: claim.IntervalText(math.Inf(-1), math.Inf(1))}
	out := policy.Or{attribute.Claim(path...).Prefix(""), in(claim.List).Prefix("")}
	for _, form := range []string{claim.Scalar, claim.ScalarList} {
		out = append(out, policy.Is{Attribute: in(form), Match: anyNumber})
		for _, text := range []string{"true", "false", "null"} {
			out = append(out, in(form).Exact(text))
		}
	}
	return append(out, policy.Is{Attribute: otherClaim(a), Match: policy.Match{Kind: policy.Present}})
}

// otherClaims has the attributes that show a claim that no other form shows, by their keys.
var otherClaims sync.Map

func otherClaim(a *policy.Attribute) *policy.Attribute {
	made, _ := otherClaims.LoadOrStore(a.Key, &policy.Attribute{
		Name: a.Name, Family: a.Family, Key: a.Key, Phrase: a.Phrase + ", as an object or a list,", Layer: a.Layer, Kinds: a.Kinds, Forms: a.Forms,
		Text: func(r *policy.Request) (string, bool) {
			values := r.Others[a.Name]
			if len(values) == 0 {
				return "", false
			}
			return values[0], true
		},
	})
	return made.(*policy.Attribute)
}
