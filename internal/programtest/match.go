package programtest

import (
	"iter"
	"slices"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// texts are values that the attributes can have, by name or family.
var texts = map[string]string{
	"identity": "spiffe://td.mesh/ns/a.b/sa/c", "uri-san": "spiffe://td.mesh/ns/a.b/sa/c", "sni": "a.example", "dns-san": "a.example",
	"method": "GET", "host": "a.example", "header :path": "/a.b?c",
}

// Match returns a match of the kind whose value the attribute can have.
func Match(a *policy.Attribute, kind policy.MatchKind) policy.Match {
	m := policy.Match{Kind: kind, Value: "/a"}
	switch {
	case kind == policy.Present:
		m.Value = ""
	case kind == policy.Range:
		m.Value = "80-90"
	case kind == policy.CIDR:
		m.Value = "10.0.0.0/8"
	case kind == policy.Template:
		m.Value = "/a/*"
	case slices.Contains(a.Kinds, policy.Range):
		m.Value = "80"
	case slices.Contains(a.Kinds, policy.CIDR):
		m.Value = "10.0.0.7"
	case texts[Family(a)] != "":
		m.Value = texts[Family(a)]
	}
	return m
}

// Family is the name of an attribute, or of its family.
func Family(a *policy.Attribute) string {
	if a.Family != "" {
		return a.Family
	}
	return a.Name
}

// Cell is what a form can ask of an attribute: a cell of the table in docs/attributes.md.
type Cell struct {
	Form policy.Form
	policy.Is
}

// Allowing returns a program that allows what the cell matches.
func (c Cell) Allowing() policy.Program {
	gate := policy.Gate{Layer: c.Attribute.Layer, Form: c.Form, Rules: []policy.Rule{Allow("rule", c.Is)}}
	if c.Form == policy.Ordered {
		gate.Default = Default
	}
	return policy.Program{Gates: []policy.Gate{gate}}
}

// Cells returns every cell whose program compiles. An attribute that only routes show has none.
func Cells(compiles func(policy.Program) error) iter.Seq[Cell] {
	return func(yield func(Cell) bool) {
		for _, form := range []policy.Form{policy.Ordered, policy.Named} {
			for _, a := range attribute.All() {
				for _, kind := range a.Kinds {
					cell := Cell{form, policy.Is{Attribute: a, Match: Match(a, kind)}}
					if p := cell.Allowing(); p.Check() == nil && compiles(p) == nil && !yield(cell) {
						return
					}
				}
			}
		}
	}
}

// Words returns all texts over an alphabet up to a length, the shortest first.
func Words(alphabet string, most int) []string {
	out := []string{""}
	for from := 0; most > 0; most-- {
		to := len(out)
		for _, w := range out[from:to] {
			for i := range len(alphabet) {
				out = append(out, w+alphabet[i:i+1])
			}
		}
		from = to
	}
	return out
}
