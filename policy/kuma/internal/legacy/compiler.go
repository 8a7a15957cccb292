// Package legacy compiles the from list of the first MeshTrafficPermission. Its items
// name clients by tags, and the last item that names a client decides.
//
// Envoy's named rules have no order, so the order is written out with negations.
// There are two compilers. [Full] lists every combination of tags with its action, as
// the first design describes it: the result grows with two to the power of the number
// of tags. [Compact] grows with the number of items n, or with n log n where the
// actions alternate more often than rules can be nested.
//
// The package guarantees that both compilers decide alike on every certificate that a
// control plane issues: such a certificate has one value for each tag. A certificate
// with two values of one tag is denied by Full; by Compact the last item decides.
//
// The package reads no YAML and selects no policies. Of Envoy it knows only the limit
// on nesting.
package legacy

import (
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/policy"
)

// The names that Envoy reports where the decision or the shadow allows a request. A
// denial has no name.
const (
	RuleName       = "MeshTrafficPermission"
	ShadowRuleName = "ShadowMeshTrafficPermission"
)

// Compiler is a way to make conditions of items.
type Compiler uint8

const (
	// Compact nests items and negations. Its cost grows with the number of items.
	Compact Compiler = iota
	// Full lists each combination of tags that is let in, with negations for the tags
	// that are absent. Its cost grows with two to the power of the number of tags.
	Full
)

var compilerNames = [...]string{Compact: "compact", Full: "full"}

// String returns the name used in case files.
func (c Compiler) String() string { return compilerNames[c] }

// UnmarshalText reads the name used in case files. An unknown name is an error.
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

// Options say how items are compiled. The zero value means the compact compiler, L4,
// and the accepted form of the shadow.
type Options struct {
	Compiler Compiler
	Layer    policy.Layer
	// Precise lets the shadow allow plainly allowed clients too. Without it they count
	// as shadow denials.
	Precise bool
}

// Gates returns the gate of the items, and a shadow where one of the items asks for a
// shadow. Both have named rules. Items that [Compiler.Check] refuses let no caller in.
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

// program returns the conditions for the clients whose action admits them. One of the
// conditions is enough.
type program func(admits func(Action) bool) []policy.Condition

func (p program) gate(layer policy.Layer, name string, admits func(Action) bool) policy.Gate {
	gate := policy.Gate{Layer: layer, Form: policy.Named}
	for _, when := range p(admits) {
		gate.Rules = append(gate.Rules, policy.Rule{Verdict: policy.Verdict{Effect: policy.Allow, Origin: name}, When: when})
	}
	return gate
}
