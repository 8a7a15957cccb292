package verdict

import (
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/dialects"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
)

// ReadForeign is [Read] where another compiler than meshproof's reads the policies. Policies
// of a kind that no dialect owns are then no error: [Reading.WantsOnly] says so, and what
// the case wants is all that Envoy is held against.
func ReadForeign(c cases.Case) (*Reading, error) {
	i := slices.IndexFunc(c.Policies, unowned)
	if i < 0 {
		own := c
		// The options of other dialects are for the compiler.
		foreign, _ := dialects.CheckOptions(c.Options.Document)
		for _, key := range foreign {
			own.Options.Document = own.Options.Document.WithoutKey(key)
		}
		r, err := Read(own)
		if err != nil {
			return nil, err
		}
		read := r.Case
		read.Options = c.Options
		return r.ForRequests(read), nil
	}
	head := c.Policies[i].Type()
	kind := fmt.Sprintf("kind %q of apiVersion %q", head.Kind, head.APIVersion)
	if head.Type != "" {
		kind = fmt.Sprintf("type %q", head.Type)
	}
	r := &Reading{Case: c, set: foreignPolicies{}, wantsOnly: kind + " belongs to no dialect", setsWithout: &setsWithout{sets: map[int]language.Policies{}}}
	r.readPrograms()
	return r, nil
}

// unowned reports whether a policy has a kind that no dialect owns.
func unowned(doc manifest.Document) bool {
	head := doc.Type()
	return head.Type+head.Kind != "" && dialects.OwnerOf(doc) == nil
}

// WantsOnly says why nothing but the case's own wants can be held against Envoy, and ""
// where the policies are read.
func (r *Reading) WantsOnly() string { return r.wantsOnly }

// foreignPolicies are policies that no dialect owns. It has no opinion on any request.
type foreignPolicies struct{}

// Check implements [language.Policies].
func (foreignPolicies) Check(policy.Inbound) error { return nil }

// Program implements [language.Policies]. The filters of the compiler judge plaintext too.
func (foreignPolicies) Program(policy.Inbound) language.Program {
	return language.Program{JudgesPlaintext: true}
}

// Ignored implements [language.Policies].
func (foreignPolicies) Ignored(policy.Inbound) []string { return nil }

// Evaluate implements [language.Policies].
func (foreignPolicies) Evaluate(policy.Inbound) func(policy.Request) policy.Decision {
	return func(policy.Request) policy.Decision { return policy.Decision{} }
}

// Lint implements [language.Policies].
func (foreignPolicies) Lint([]policy.Inbound) []policy.Warning { return nil }

// Notes implements [language.Policies].
func (foreignPolicies) Notes([]policy.Decision) []string { return nil }
