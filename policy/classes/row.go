package classes

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/meshproof/meshproof/policy"
)

// row says how an attribute cuts requests. Attributes of one rank cut the same
// dimension.
type row struct {
	attribute *policy.Attribute
	// rank orders the dimensions in descriptions. Rank 0 is the caller.
	rank int
	// space returns the values that can be sent to an inbound. It is nil for an
	// attribute of the caller, see [Cover.cutCallers].
	space func(on Surface) space
	// pattern brings a match into the form of the space.
	pattern func(m policy.Match) pattern
	// usual returns the value of requests where the attribute makes no difference. It
	// is nil where such requests have no value.
	usual func(on Surface) string
	// perName is true where each name of a caller is judged by itself, and names where
	// the attribute is made of names of the caller.
	perName, names bool
}

// space is the set of values of a dimension.
type space interface {
	name() string
	// read returns the value of a request, and put sets it.
	read(r *policy.Request) string
	put(r *policy.Request, value string)
	// key returns the text that patterns compare, and value turns a key back.
	key(value string) string
	value(key string) string
	// sound returns why no request has the value, and nil for a value that can be sent.
	sound(value string) error
	// complete returns values whose key begins with the prefix, the most natural value
	// first, different values for each n. They need not be sound.
	complete(prefix string, n int) []string
	// alphabet has every character of a sound value.
	alphabet() string
	// around returns values close to the border of a pattern, on both sides of it. The
	// witness is a value that the pattern covers. They need not be sound.
	around(p pattern, witness string) []variant
	// describe names what the pattern covers.
	describe(p pattern) string
}

// variant is a value with its relation to the value that it was made of.
type variant struct{ value, why string }

// callers is the dimension of the caller.
const callers = 0

var rows = map[*policy.Attribute]*row{}

// add puts a row into the table.
func add(r row) *row {
	rows[r.attribute] = &r
	return &r
}

// table has the rows of each dimension.
var table = sync.OnceValue(func() [][]*row {
	var out [][]*row
	for _, r := range slices.SortedFunc(maps.Values(rows), func(a, b *row) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), strings.Compare(a.attribute.Name, b.attribute.Name))
	}) {
		if last := len(out) - 1; last >= 0 && out[last][0].rank == r.rank {
			out[last] = append(out[last], r)
		} else {
			out = append(out, []*row{r})
		}
	}
	return out
})

// dimensionOf has the dimension of each attribute.
var dimensionOf = sync.OnceValue(func() map[*policy.Attribute]int {
	out := make(map[*policy.Attribute]int, len(rows))
	for d, of := range table() {
		for _, r := range of {
			out[r.attribute] = d
		}
	}
	return out
})

// leaf is a condition that looks at one attribute.
type leaf struct {
	dimension int
	pattern   pattern
	// perName is true for a condition that looks at each name of a caller by itself.
	perName bool
}

// leafOf brings a leaf of a condition into the form of all dimensions. It returns false
// for an attribute without a row.
func leafOf(c policy.Condition) (leaf, bool) {
	is, _ := c.(policy.Is)
	r := rows[is.Attribute]
	if r == nil {
		return leaf{}, false
	}
	return leaf{dimension: dimensionOf()[is.Attribute], pattern: r.pattern(is.Match), perName: r.perName}, true
}

// bytesPattern is the pattern of a match that compares bytes.
func bytesPattern(m policy.Match) pattern { return pattern{m.Value, m.Kind} }

// plainSpace is the space of an attribute with a text, if every text can be sent. It
// is embedded by spaces that know more.
type plainSpace struct{ attribute *policy.Attribute }

func (s plainSpace) name() string { return s.attribute.Name }

func (s plainSpace) read(r *policy.Request) string {
	text, _ := s.attribute.Text(r)
	return text
}

func (s plainSpace) put(r *policy.Request, value string) {
	r.Others = maps.Clone(r.Others)
	if r.Others == nil {
		r.Others = map[string][]string{}
	}
	r.Others[s.attribute.Name] = []string{value}
}

func (plainSpace) key(value string) string { return value }
func (plainSpace) value(key string) string { return key }
func (plainSpace) sound(string) error      { return nil }
func (plainSpace) alphabet() string        { return nameChars }

func (plainSpace) complete(prefix string, n int) []string {
	return []string{prefix + filler(n), prefix}
}

func (plainSpace) around(p pattern, _ string) []variant {
	out := []variant{{p.text + "x", "a longer value"}, {swapCase(p.text), "another case"}}
	if p.text != "" {
		out = append(out, variant{p.text[:len(p.text)-1], "a shorter value"})
	}
	return out
}

func (s plainSpace) describe(p pattern) string {
	if p.kind == policy.Exact {
		return s.name() + " " + p.text
	}
	return s.name() + " " + p.text + "…"
}
