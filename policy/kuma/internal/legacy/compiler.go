package legacy

import (
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/policy"
)

// The names under which Envoy reports who was let in, by the decision and by the
// shadow. Who is refused is refused without a name.
const (
	RuleName       = "MeshTrafficPermission"
	ShadowRuleName = "ShadowMeshTrafficPermission"
)

// Compiler is a way from items to conditions.
type Compiler uint8

const (
	// Compact nests items and negations; its cost grows with the number of items.
	Compact Compiler = iota
	// Full lists the combinations of tags, with negations, that the decision lets
	// in; its cost grows with two to the power of the number of tags.
	Full
)

var compilerNames = [...]string{Compact: "compact", Full: "full"}

// String returns the name used in case files.
func (c Compiler) String() string { return compilerNames[c] }

// UnmarshalText reads the name used in case files; an unknown one is an error.
func (c *Compiler) UnmarshalText(text []byte) error {
	for i, name := range compilerNames {
		if name == string(text) {
			*c = Compiler(i)
			return nil
		}
	}
	return fmt.Errorf("legacyCompiler %q is unknown: use compact or full", text)
}

// Check returns a [*SizeError] for items that the compiler refuses.
func (c Compiler) Check(items []Item) error {
	if c != Full {
		return nil
	}
	if tags := len(tagsOf(items)); tags > maxTags {
		return &SizeError{Tags: tags}
	}
	return nil
}

// Options say how items are compiled. The zero value is the compact gate of a
// connection, with the accepted form of the shadow.
type Options struct {
	Compiler Compiler
	Layer    policy.Layer
	// Precise makes the shadow admit plainly allowed clients too. Without it they
	// count as shadow denials.
	Precise bool
}

// Gates returns the gate of the items, and a shadow as soon as one of them asks for
// it, both of named rules. Items that [Compiler.Check] refuses let nobody in.
func Gates(items []Item, opts Options) (gate policy.Gate, shadows []policy.Gate) {
	var p program
	if opts.Compiler == Full {
		p = full(items)
	} else {
		p = compact(items)
	}
	gate = p.gate(opts.Layer, RuleName, Action.Allows)
	if slices.ContainsFunc(items, func(i Item) bool { return i.Action.Observed() }) {
		admits := admittedByShadow
		if opts.Precise {
			admits = admittedByPreciseShadow
		}
		shadows = []policy.Gate{p.gate(opts.Layer, ShadowRuleName, admits)}
	}
	return gate, shadows
}

// program returns the conditions under which the clients of admitting actions are
// let in; one of them is enough.
type program func(admits func(Action) bool) []policy.Condition

func (p program) gate(layer policy.Layer, name string, admits func(Action) bool) policy.Gate {
	gate := policy.Gate{Layer: layer, Form: policy.Named}
	for _, when := range p(admits) {
		gate.Rules = append(gate.Rules, policy.Rule{Verdict: policy.Verdict{Effect: policy.Allow, Origin: name}, When: when})
	}
	return gate
}
