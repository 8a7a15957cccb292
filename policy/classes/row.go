package classes

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/meshproof/meshproof/internal/automaton"
	"github.com/meshproof/meshproof/policy"
)

// row says how an attribute cuts requests. Attributes of one rank cut the same
// dimension.
type row struct {
	attribute *policy.Attribute
	// rank orders the dimensions in descriptions. Rank 0 is the caller. The attributes of a
	// family cut one dimension for each key, or that of the attributes without a key.
	rank int
	// space returns the values that can be sent to an inbound. It is nil for an
	// attribute of the caller, see [Cover.cutCallers].
	space func(on Surface) space
	// pattern brings a match into the form of the space.
	pattern func(m policy.Match) pattern
	// usual returns the value of requests where the attribute makes no difference. It
	// is nil where such requests have no value.
	usual func(on Surface) string
	// quiet is true where requests need the usual value only if a program asks for the
	// attribute.
	quiet bool
	// mixes is true where the matches of the attribute, with the others of its dimension, form
	// no tree.
	mixes bool
	// embed says where the attribute stands in the value of its dimension: it turns a
	// language of the attribute into one of values. It is nil where the attribute is the value.
	embed func(of *automaton.Language) *automaton.Language
	// perName is true where each name of a caller is judged by itself, and names where
	// the attribute is made of names of the caller.
	perName, names bool
	// several is true where each of several values is judged by itself. The values of the
	// space are texts that have all of them, see [listSeparator].
	several bool
}

// space is the set of values of a dimension.
type space interface {
	name() string
	// read returns the value of a request, put sets it, and clear takes it away.
	read(r *policy.Request) string
	put(r *policy.Request, value string)
	clear(r *policy.Request)
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
	// neighbours returns values close to the border of a pattern, on both sides of it. The
	// witness is a value that the pattern covers. They need not be sound.
	neighbours(p pattern, witness string) []variant
	// describe names what the pattern covers.
	describe(p pattern) string
}

// variant is a value with its relation to the value that it was made of.
type variant struct{ value, why string }

// callers is the dimension of the caller.
const callers = 0

// rows has the rows of attributes of their own, and families makes the rows of the others,
// by the names of the families.
var (
	rows     = map[*policy.Attribute]*row{}
	families = map[string]func(a *policy.Attribute) row{}
)

// add puts a row into the table.
func add(r row) *row {
	rows[r.attribute] = &r
	return &r
}

// addFamily puts the rows of a family into the table.
func addFamily(name string, of func(a *policy.Attribute) row) func(a *policy.Attribute) row {
	families[name] = of
	return of
}

// rowOf returns the row of an attribute, and nil for an attribute without one.
func rowOf(a *policy.Attribute) *row {
	if r := rows[a]; r != nil || a == nil {
		return r
	}
	of := families[a.Family]
	if of == nil {
		return nil
	}
	r := of(a)
	r.attribute = a
	return &r
}

// table has the rows of each dimension.
type table struct {
	rows      [][]*row
	dimension map[*policy.Attribute]int
}

// tableOf returns the rows of all attributes of their own, and of those attributes of
// families that the programs ask for.
func tableOf(programs []policy.Program) *table {
	asked := map[*policy.Attribute]*row{}
	for _, p := range programs {
		for c := range p.Conditions() {
			is, ok := c.(policy.Is)
			if !ok || is.Attribute == nil || is.Attribute.Family == "" || asked[is.Attribute] != nil {
				continue
			}
			if r := rowOf(is.Attribute); r != nil {
				asked[is.Attribute] = r
			}
		}
	}
	if len(asked) == 0 {
		return ownTable()
	}
	maps.Copy(asked, rows)
	return newTable(asked)
}

// ownTable has the rows of all attributes of their own.
var ownTable = sync.OnceValue(func() *table { return newTable(rows) })

func newTable(of map[*policy.Attribute]*row) *table {
	t := &table{dimension: make(map[*policy.Attribute]int, len(of))}
	for _, r := range slices.SortedFunc(maps.Values(of), compareRows) {
		last := len(t.rows) - 1
		if last >= 0 && t.rows[last][0].rank == r.rank && slices.Contains([]string{"", r.attribute.Key}, t.rows[last][0].attribute.Key) {
			t.rows[last] = append(t.rows[last], r)
		} else {
			t.rows, last = append(t.rows, []*row{r}), last+1
		}
		t.dimension[r.attribute] = last
	}
	return t
}

func compareRows(a, b *row) int {
	return cmp.Or(cmp.Compare(a.rank, b.rank), strings.Compare(a.attribute.Key, b.attribute.Key), strings.Compare(a.attribute.Family, b.attribute.Family), strings.Compare(a.attribute.Name, b.attribute.Name))
}

// leaf is a condition that looks at one attribute.
type leaf struct {
	dimension int
	pattern   pattern
	// perName is true for a condition that looks at each name of a caller by itself.
	perName bool
}

// leafOf brings a leaf of a condition into the form of all dimensions. It returns false
// for an attribute without a row.
func (t *table) leafOf(c policy.Condition) (leaf, bool) {
	is, _ := c.(policy.Is)
	d, ok := t.dimension[is.Attribute]
	if !ok {
		return leaf{}, false
	}
	r := t.row(d, is.Attribute)
	return leaf{dimension: d, pattern: r.pattern(is.Match), perName: r.perName}, true
}

// row returns the row of an attribute of a dimension.
func (t *table) row(d int, a *policy.Attribute) *row {
	of := t.rows[d]
	return of[slices.IndexFunc(of, func(r *row) bool { return r.attribute == a })]
}

// bytesPattern is the pattern of a match that compares bytes.
func bytesPattern(m policy.Match) pattern { return pattern{text: m.Value, kind: m.Kind} }

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

func (s plainSpace) clear(r *policy.Request) {
	r.Others = maps.Clone(r.Others)
	delete(r.Others, s.attribute.Name)
}

func (plainSpace) key(value string) string { return value }
func (plainSpace) value(key string) string { return key }
func (plainSpace) sound(string) error      { return nil }
func (plainSpace) alphabet() string        { return nameChars }

func (plainSpace) complete(prefix string, n int) []string {
	return []string{prefix + filler(n), prefix}
}

func (plainSpace) neighbours(p pattern, _ string) []variant {
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
