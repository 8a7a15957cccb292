package policy

import (
	"slices"
	"strconv"
	"strings"
)

// Condition is what a rule asks of a request. The set of conditions is closed:
// [And], [Or], [Not], [Constant], [Identity], [URI], [Path] and [Method]. Conditions
// are values: nobody changes one after it was built.
type Condition interface {
	// Holds reports whether the request meets the condition.
	Holds(r *Request) bool
	// Layer returns the lowest layer on which the condition can be judged.
	Layer() Layer
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

// And holds when all of its conditions hold; an empty And always holds.
type And []Condition

// Or holds when one of its conditions holds; an empty Or never holds.
type Or []Condition

// Not holds when its condition does not.
type Not struct{ Of Condition }

// Identity compares the peer's identity, see [Request.Identity].
type Identity StringMatch

// URI compares each URI SAN of the peer's certificate, and each DNS SAN too; one
// that matches is enough. The principal "authenticated" of envoy.config.rbac.v3
// knows no kinds of names, so that a DNS SAN that reads like a SPIFFE ID passes
// for it, be there URI SANs or not.
type URI StringMatch

// Method compares the HTTP method; case sensitive, and GET does not cover HEAD.
type Method string

// Holds implements [Condition].
func (c Constant) Holds(*Request) bool { return bool(c) }

// Holds implements [Condition].
func (c And) Holds(r *Request) bool {
	return !slices.ContainsFunc(c, func(of Condition) bool { return !of.Holds(r) })
}

// Holds implements [Condition].
func (c Or) Holds(r *Request) bool {
	return slices.ContainsFunc(c, func(of Condition) bool { return of.Holds(r) })
}

// Holds implements [Condition].
func (c Not) Holds(r *Request) bool { return !c.Of.Holds(r) }

// Holds implements [Condition].
func (c Identity) Holds(r *Request) bool { return StringMatch(c).Matches(r.Identity()) }

// Holds implements [Condition].
func (c URI) Holds(r *Request) bool {
	return slices.ContainsFunc(r.URIs, StringMatch(c).Matches) || slices.ContainsFunc(r.DNS, StringMatch(c).Matches)
}

// Holds implements [Condition].
func (c Method) Holds(r *Request) bool { return r.Method == string(c) }

// Layer implements [Condition].
func (Constant) Layer() Layer { return L4 }

// Layer implements [Condition].
func (c And) Layer() Layer { return highest(c) }

// Layer implements [Condition].
func (c Or) Layer() Layer { return highest(c) }

// Layer implements [Condition].
func (c Not) Layer() Layer { return c.Of.Layer() }

// Layer implements [Condition].
func (Identity) Layer() Layer { return L4 }

// Layer implements [Condition].
func (URI) Layer() Layer { return L4 }

// Layer implements [Condition].
func (Method) Layer() Layer { return L7 }

func highest(cs []Condition) Layer {
	for _, c := range cs {
		if c.Layer() == L7 {
			return L7
		}
	}
	return L4
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
func (c Not) String() string { return "not " + bracket(c.Of, c.precedence()) }

// String implements [Condition].
func (c Identity) String() string { return "identity " + StringMatch(c).String() }

// String implements [Condition].
func (c URI) String() string { return "a URI SAN " + StringMatch(c).String() }

// String implements [Condition].
func (c Method) String() string { return "method = " + strconv.Quote(string(c)) }

// A condition of lower precedence is bracketed inside one of higher precedence.
const (
	loose = iota
	tight
	atom
)

func (Constant) precedence() int { return atom }
func (And) precedence() int      { return tight }
func (Or) precedence() int       { return loose }
func (Not) precedence() int      { return atom }
func (Identity) precedence() int { return atom }
func (URI) precedence() int      { return atom }
func (Method) precedence() int   { return atom }

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
	if c.precedence() < precedence {
		return "(" + c.String() + ")"
	}
	return c.String()
}
