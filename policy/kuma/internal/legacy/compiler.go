// Package legacy compiles the from list of the first MeshTrafficPermission. Its items
// name clients by tags, and the last item that names a client decides.
//
// Envoy's named rules have no order, so the order is written out with negations.
// There are two compilers. [Full] lists every combination of tags with its action, as
// the first design describes it: the result grows with two to the power of the number
// of tags. [Compact] grows with the number of items n, or with n log n where the
// actions alternate more often than rules can be nested.
//
// The package guarantees that both compilers decide alike on every certificate with one
// service, and one value for each tag. A control plane issues others too: the certificate of
// a dataplane has the services and the tags of all its inbounds. With two services, or two
// values of a tag that the items name, Full denies, as the design leaves these clients out of
// its view; by Compact the last item decides. [Compiler.Denied] finds such items.
//
// The package reads no YAML and selects no policies. Of Envoy it knows only the limit
// on nesting.
package legacy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/policy"
)

// The names that Envoy reports where the decision or the shadow allows a request. A
// denial has no name.
const (
	ruleName       = "MeshTrafficPermission"
	shadowRuleName = "ShadowMeshTrafficPermission"
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
	i := slices.Index(compilerNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("legacyCompiler %q is unknown: use %s", text, strings.Join(compilerNames[:], " or "))
	}
	*c = Compiler(i)
	return nil
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

// Denied finds a client that the items admit, in the shadow at least, and the compiler
// denies: its certificate has both tags, and the item with index by decides about it. Of
// several such clients it has the fewest tags. The compact compiler has none, and neither
// have items that Check refuses.
func (c Compiler) Denied(items []Item) (by int, a, b Tag, ok bool) {
	if c != Full || c.Check(items) != nil {
		return 0, Tag{}, Tag{}, false
	}
	fewest := 0
	for combination := range combinationsOf(items) {
		t, u, twofold := combination.twofold()
		if n := combination.count(); !twofold || ok && n >= fewest {
			continue
		}
		last := len(items) - 1
		for last >= 0 && !combination.meets(items[last]) {
			last--
		}
		if last >= 0 && items[last].Action != Deny {
			by, a, b, ok, fewest = last, t, u, true, combination.count()
		}
	}
	return by, a, b, ok
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
	gate = p.gate(opts.Layer, ruleName, Action.Allows)
	if slices.ContainsFunc(items, func(i Item) bool { return i.Action.asksForShadow() }) {
		admits := admittedByShadow
		if opts.Precise {
			admits = admittedByPreciseShadow
		}
		shadows = []policy.Gate{p.gate(opts.Layer, shadowRuleName, admits)}
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
