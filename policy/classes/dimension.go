package classes

import (
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// dimension is an attribute of requests that conditions look at. A new kind of
// leaf is a case of [leafOf] and, where it looks at an attribute of its own, a
// dimension.
type dimension interface {
	name() string
	// read returns the attribute of a request, and put sets it.
	read(r *policy.Request) string
	put(r *policy.Request, value string)
	// key returns the text that patterns are held against, and value turns one back.
	key(value string) string
	value(key string) string
	// sound returns why no request has the value, nil for one that can be sent.
	sound(value string) error
	// complete returns values whose key begins with the prefix, the most natural one
	// first, different ones for each n; they need not be sound.
	complete(prefix string, n int) []string
	// alphabet has every character of a sound value.
	alphabet() string
	// around returns values close to the border of a pattern, on both sides of it,
	// where witness is one that the pattern covers; they need not be sound.
	around(p pattern, witness string) []variant
	// describe names what the pattern covers.
	describe(p pattern) string
}

// variant is a value with its relation to the one it was made of.
type variant struct{ value, why string }

// The dimensions, in the order in which requests are described.
const (
	callers = iota
	paths
	methods
	dimensions
)

// leaf is a condition that looks at one attribute.
type leaf struct {
	dimension int
	pattern   pattern
	// perName is true for a condition that looks at each name of a caller by itself.
	perName bool
}

// leafOf brings a leaf into the form of all dimensions. A prefix of paths covers
// whole segments, and is one of bytes as soon as every path ends in a slash.
func leafOf(c policy.Condition) (leaf, bool) {
	is, ok := c.(policy.Is)
	if !ok {
		return leaf{}, false
	}
	p := pattern{is.Match.Value, is.Match.Kind}
	switch is.Attribute {
	case attribute.Identity:
		return leaf{dimension: callers, pattern: p}, true
	case attribute.URISAN:
		return leaf{dimension: callers, pattern: p, perName: true}, true
	case attribute.Path:
		switch {
		case p.kind == policy.Exact:
			return leaf{dimension: paths, pattern: pattern{p.text + "/", policy.Exact}}, true
		case is.Match.Segment() == "":
			return leaf{dimension: paths, pattern: pattern{"", policy.Prefix}}, true
		default:
			return leaf{dimension: paths, pattern: pattern{is.Match.Segment() + "/", policy.Prefix}}, true
		}
	case attribute.Method:
		return leaf{dimension: methods, pattern: p}, true
	default:
		return leaf{}, false
	}
}

// axis is one dimension as the matchers of some programs cut it.
type axis struct {
	dimension
	*family
	// witnesses has a sound value for each cell that is not in void.
	witnesses []string
	// void has the cells that no request is in, with the reason.
	void map[int32]error
	// rest is the cell of what no matcher covers, and start the one that stands for
	// all of them.
	rest, start int32
}

// newAxis looks for a witness of each cell.
func newAxis(d dimension, patterns []pattern) *axis {
	f := newFamily(patterns)
	a := &axis{dimension: d, family: f, witnesses: make([]string, len(f.patterns)), void: make(map[int32]error)}
	space, ofCallers := d.(*callerSpace)
	for i, p := range a.patterns {
		value, err := a.search(int32(i))
		if a.witnesses[i] = value; err != nil {
			a.void[int32(i)] = err
		}
		if ofCallers && space.isRest(p) {
			a.rest = int32(i)
		}
	}
	return a
}

// prefer lets a value stand for its cell, and the cell for all of them.
func (a *axis) prefer(value string) {
	if a.sound(value) == nil {
		a.start = a.find(a.key(value))
		a.witnesses[a.start] = value
	}
}

// reachable reports whether a request is in the cell.
func (a *axis) reachable(cell int32) bool {
	_, void := a.void[cell]
	return !void
}
