package language

import (
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Dialect is a language in which policies are written. It has no state.
type Dialect interface {
	// Name is one word, such as kuma.
	Name() string
	// Kinds says which documents the dialect owns, for the error about a document
	// that no dialect owns.
	Kinds() string
	// Owns reports whether a document is a policy of the dialect, in any version.
	Owns(doc manifest.Document) bool
	// NewOptions returns a pointer to a struct with the defaults of the dialect's
	// options. The yaml tag of a field is its key in [Options.Document]. As JSON the
	// struct has every option with its value.
	NewOptions() any
	// Parse reads policies that the dialect owns. It returns all errors joined, one
	// line each. Without documents the result is the empty set of the dialect.
	Parse(docs []manifest.Document, opts Options) (Policies, error)
}

// Policies is a set of valid policies of one dialect, with the options they were
// read by. It is immutable.
type Policies interface {
	// Check refuses what can only be refused for a given inbound: policies of which
	// no program can be made there.
	Check(in policy.Inbound) error
	// Program selects the policies of the inbound and lowers them. Where [Check]
	// refuses, the program lets nobody in.
	Program(in policy.Inbound) Program
	// Evaluate judges a request straight from the text of the policies. It is a
	// second opinion on [policy.Decide] and shares no code with Program but the
	// selection.
	Evaluate(in policy.Inbound, r policy.Request) policy.Decision
	// Lint warns of policies that are legal but may not do what their author means.
	// The inbounds are all that there are.
	Lint(inbounds []policy.Inbound) []policy.Warning
	// Notes explains what a reader of the observed decisions may not expect of the
	// dialect, one line each.
	Notes(observed []policy.Decision) []string
}

// Program is the decision program of one inbound, with what the dialect says
// beside it.
type Program struct {
	policy.Program
	// Warnings are those of lowering.
	Warnings []policy.Warning
	// Ignored has a line for each policy that does not apply.
	Ignored []string
	// JudgesPlaintext is true where the program also judges plaintext callers of a
	// permissive inbound, as callers without a name. Otherwise they pass there.
	JudgesPlaintext bool
}
