package policy

import "strings"

// Condition is what a rule asks of a request. There are five kinds of conditions: [And],
// [Or], [Not], [Constant] and [Is]. [Walk] goes through them. A condition
// is a value: it never changes after it was built.
type Condition interface {
	// Holds reports whether the request meets the condition.
	Holds(r *Request) bool
	// String returns the condition in the program's text form.
	String() string

	precedence() int
}

// Constant is a condition that does not look at the request.
type Constant bool

// The two constants.
const (
	Always Constant = true
	Never  Constant = false
)

// And holds when all of its conditions hold. An empty And always holds.
type And []Condition

// Or holds when one of its conditions holds. An empty Or never holds.
type Or []Condition

// Not holds when its condition does not.
type Not struct{ Condition Condition }

// Is compares one attribute of the request. It is the only condition that looks at
// the request.
type Is struct {
	Attribute *Attribute
	Match     Match
}

// Holds implements [Condition].
func (c Constant) Holds(*Request) bool { return bool(c) }

// Holds implements [Condition].
func (c And) Holds(r *Request) bool {
	for _, of := range c {
		if !holds(of, r) {
			return false
		}
	}
	return true
}

// Holds implements [Condition].
func (c Or) Holds(r *Request) bool {
	for _, of := range c {
		if holds(of, r) {
			return true
		}
	}
	return false
}

// Holds implements [Condition].
func (c Not) Holds(r *Request) bool { return !holds(c.Condition, r) }

// Holds implements [Condition].
func (c Is) Holds(r *Request) bool { return c.Attribute.matches(c.Match, r) }

// holds treats a missing condition as [Never], as a rule does. It calls leaves and lists by
// their types, and asks for a text itself: most leaves take less time than two more calls.
func holds(c Condition, r *Request) bool {
	switch c := c.(type) {
	case nil:
		return false
	case Is:
		if a := c.Attribute; a != nil && a.Text != nil {
			text, ok := a.Text(r)
			return ok && c.Match.matches(text, r.UTF8)
		}
		return c.Holds(r)
	case And:
		return c.Holds(r)
	case Or:
		return c.Holds(r)
	default:
		return c.Holds(r)
	}
}

// String implements [Condition].
func (c Constant) String() string {
	if c {
		return "always"
	}
	return "never"
}

// String implements [Condition].
func (c And) String() string { return join(c, " and ", Always, c.precedence()) }

// String implements [Condition].
func (c Or) String() string { return join(c, " or ", Never, c.precedence()) }

// String implements [Condition].
func (c Not) String() string { return "not " + bracket(c.Condition, c.precedence()) }

// String implements [Condition].
func (c Is) String() string { return c.Attribute.phrase() + " " + c.Match.String() }

// A condition of lower precedence gets brackets inside one of higher precedence.
const (
	precedenceOr = iota
	precedenceAnd
	precedenceLeaf
)

func (Constant) precedence() int { return precedenceLeaf }
func (And) precedence() int      { return precedenceAnd }
func (Or) precedence() int       { return precedenceOr }
func (Not) precedence() int      { return precedenceLeaf }
func (Is) precedence() int       { return precedenceLeaf }

func join(cs []Condition, by string, empty Constant, precedence int) string {
	if len(cs) == 0 {
		return empty.String()
	}
	parts := make([]string, len(cs))
	for i, c := range cs {
		parts[i] = bracket(c, precedence+1)
	}
	return strings.Join(parts, by)
}

func bracket(c Condition, precedence int) string {
	switch {
	case c == nil:
		return Never.String()
	case c.precedence() < precedence:
		return "(" + c.String() + ")"
	default:
		return c.String()
	}
}
