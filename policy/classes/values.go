package classes

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/automaton"
	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// errNothing says why a match is in no class.
var errNothing = errors.New("nothing that can be sent is matched")

// sender is a space that knows its values as a regular language. Spaces without it have
// all texts of printable ASCII.
type sender interface {
	// sendable returns regular expressions: natural values, all values, and what is none of
	// them.
	sendable() (natural, all string, without []string)
}

// values finds values of the dimensions that are in some atoms and not in others.
type values struct {
	*regular
	search automaton.Search
	// spaces has the space of each dimension, and usual its usual value.
	spaces []space
	usual  []string
	// asked is true for dimensions that a program asks for.
	asked []bool
	// sets has the languages of the values of each dimension, the natural ones first. The
	// last one has all values that can be sent.
	sets [][]*automaton.Language
	// joined are callers with several names, for programs that see the names as one text.
	// any are the names behind the first name of a caller.
	joined, any *automaton.Language
	answers     map[string]answered
	// limited are the patterns of searches that met their limit.
	limited []string
	cuts    int
	// unprintable are patterns that need other characters than printable ASCII.
	unprintable []string
}

// literals are atoms that a value has, and atoms that it has not.
type literals struct{ present, absent []int32 }

type answered struct {
	text   string
	answer automaton.Answer
}

func newValues(r *regular, on Surface, s *survey) values {
	v := values{regular: r, search: automaton.Search{Budget: budget(mostWork)}, answers: map[string]answered{}}
	known := on.TrustDomains
	if len(known) == 0 {
		known = trustDomainsOf(s.leaves[callers], on.OwnDomain)
	}
	for d, of := range r.cover.table.rows {
		var in space = &callerSpace{wide: on.AnyText, trusted: on.TrustDomains, known: known}
		usual := ""
		if d != callers {
			in = of[0].widened(on)
			if of[0].usual != nil && !(of[0].quiet && len(s.leaves[d]) == 0) {
				usual = of[0].usual(on)
			}
		}
		var sets []*automaton.Language
		switch {
		case of[0].attribute.Layer == policy.L7 && r.cover.layer == policy.L4:
			// On L4 there is nothing to know of a request: its attributes are empty.
			usual, sets = "", []*automaton.Language{automaton.Literal("", false, false, false)}
		default:
			sets = languagesOf(in)
			if _, ofHeader := in.(headerSpace); ofHeader {
				r.embedAtoms(d)
			}
			if r.readsWhole(d) {
				sets = withQueries(sets, on.AnyText)
			}
		}
		v.spaces, v.usual, v.sets = append(v.spaces, in), append(v.usual, usual), append(v.sets, sets)
		v.asked = append(v.asked, len(s.leaves[d]) > 0)
	}
	if s.joined && !s.perName {
		_, all, without := v.spaces[callers].(*callerSpace).sendable()
		if len(without) > 0 {
			without = append(without, `.*/\.{1,2},.*`)
		}
		v.joined = language(all+`(,`+all+`)*`, without...)
	}
	v.any = language(`[!-~]*`)
	return v
}

// readsWhole reports whether an atom looks at more than the path of a request, and prepares
// the atoms of the dimension for values that have a query.
func (r *regular) readsWhole(d int) bool {
	if r.cover.table.dimension[attribute.Path] != d || !slices.ContainsFunc(r.atoms, func(a atom) bool { return a.dimension == d && a.is.Attribute != attribute.Path }) {
		return false
	}
	r.embedAtoms(d)
	return true
}

// embedAtoms tells the atoms of a dimension where their attributes stand in its values.
func (r *regular) embedAtoms(d int) {
	for at := range r.atoms {
		if a := &r.atoms[at]; a.dimension == d {
			a.embed = r.cover.table.row(d, a.is.Attribute).embed
		}
	}
}

// name returns the name of a dimension.
func (v *values) name(d int) string { return v.spaces[d].name() }

// read returns the value of a request, as far as it tells requests apart.
func (v *values) read(d int, request *policy.Request) string {
	if d == callers {
		return strings.Join(request.URIs, ",") + " " + strings.Join(request.DNS, ",")
	}
	return v.spaces[d].read(request)
}

// unknown reports whether every request has the same value of the dimension.
func (v *values) unknown(d int) bool {
	return d != callers && v.cover.layer == policy.L4 && v.cover.table.rows[d][0].attribute.Layer == policy.L7
}

// start returns a request of usual values.
func (v *values) start() policy.Request {
	var request policy.Request
	v.find(callers, literals{}, &request)
	for d := range v.spaces {
		switch in, ok := v.spaces[d].(intervals); {
		case ok && v.asked[d]:
			in.put(&request, in.natural())
		case d != callers && v.usual[d] != "":
			v.spaces[d].put(&request, v.usual[d])
		}
	}
	if v.cover.table.asksClaims() {
		request.Others = v.cover.demand.Seen(v.cover.demand.Complete(token.FromClaims(request.Others)))
	}
	return request
}

// find gives a request a value of the dimension.
func (v *values) find(d int, l literals, request *policy.Request) automaton.Answer {
	if d == callers {
		return v.caller(l, request)
	}
	if in, ok := v.spaces[d].(intervals); ok {
		if v.findInterval(in, l, request) {
			return automaton.Found
		}
		return automaton.Empty
	}
	// Usual values come first, then none at all, where a request needs none.
	candidate := *request
	v.spaces[d].put(&candidate, v.usual[d])
	if row := v.cover.table.rows[d][0]; row.usual == nil {
		v.spaces[d].clear(&candidate)
	}
	if len(l.present) == 0 && v.fits(l, &candidate) {
		*request = candidate
		return automaton.Found
	}
	text, answer := v.texts(d, l)
	if answer == automaton.Empty && v.isOpen(d) && !v.several(d) {
		answer = v.askUnprintable(l)
	}
	if answer == automaton.Empty && len(l.present) == 0 && !v.cover.table.rows[d][0].attribute.Always {
		candidate = *request
		if v.spaces[d].clear(&candidate); v.fits(l, &candidate) {
			*request = candidate
			return automaton.Found
		}
	}
	if answer != automaton.Found {
		return answer
	}
	candidate = *request
	v.spaces[d].put(&candidate, text)
	if v.spaces[d].sound(text) != nil && !v.unknown(d) || !v.fits(l, &candidate) {
		return v.noteLimit(l)
	}
	*request = candidate
	return automaton.Found
}

// texts returns a value that has some atoms, and none of the others. Where each of several
// values is judged by itself, there is one for each atom.
func (v *values) texts(d int, l literals) (string, automaton.Answer) {
	if !v.several(d) {
		return v.text(v.sets[d], l)
	}
	var out []string
	for _, at := range l.present {
		if slices.ContainsFunc(out, v.atoms[at].is.Match.Matches) {
			continue
		}
		only := literals{[]int32{at}, l.absent}
		text, answer := v.text(v.sets[d], only)
		if answer == automaton.Empty && v.isOpen(d) {
			answer = v.askUnprintable(only)
		}
		if answer != automaton.Found {
			return "", answer
		}
		out = append(out, text)
	}
	return strings.Join(out, listSeparator), automaton.Found
}

// several reports whether each of several values is judged by itself.
func (v *values) several(d int) bool { return v.cover.table.rows[d][0].several }

// isOpen reports whether values of the dimension can have any bytes.
func (v *values) isOpen(d int) bool {
	in, isSender := v.spaces[d].(sender)
	_, ofDNS := in.(dnsSpace)
	return ofDNS || !isSender && !v.unknown(d)
}

// askUnprintable says what becomes of atoms that no text of printable ASCII has: other texts may have
// them, and callers may send those.
func (v *values) askUnprintable(l literals) automaton.Answer {
	if _, answer := v.text([]*automaton.Language{anyName()}, l); answer == automaton.Empty {
		return automaton.Empty
	}
	for _, at := range l.present {
		if text := v.atoms[at].is.String(); len(v.unprintable) < mostNamed && !slices.Contains(v.unprintable, text) {
			v.unprintable = append(v.unprintable, text)
		}
	}
	return automaton.Limited
}

// fits reports whether a request has some atoms, and none of the others.
func (v *values) fits(l literals, request *policy.Request) bool {
	return !slices.ContainsFunc(l.present, func(at int32) bool { return !v.atoms[at].is.Holds(request) }) &&
		!slices.ContainsFunc(l.absent, func(at int32) bool { return v.atoms[at].is.Holds(request) })
}

// text returns a text of one of the languages, of which the last has the others.
func (v *values) text(sets []*automaton.Language, l literals) (string, automaton.Answer) {
	key := v.key(sets, l)
	if known, ok := v.answers[key]; ok {
		return known.text, known.answer
	}
	text, answer := v.newText(sets, l)
	if answer == automaton.Limited {
		v.noteLimit(l)
	}
	v.answers[key] = answered{text, answer}
	return text, answer
}

func (v *values) key(sets []*automaton.Language, l literals) string {
	key := fmt.Appendf(make([]byte, 0, 64), "%p ", sets[len(sets)-1])
	for _, of := range [][]int32{l.present, l.absent} {
		sorted := slices.Sorted(slices.Values(of))
		key = binary.AppendUvarint(key, uint64(len(sorted)))
		for _, at := range sorted {
			key = binary.AppendUvarint(key, uint64(at))
		}
	}
	return string(key)
}

func (v *values) newText(sets []*automaton.Language, l literals) (string, automaton.Answer) {
	all := sets[len(sets)-1]
	for _, at := range l.present {
		if m := v.atoms[at].is.Match; m.Kind == policy.Exact && !m.AnyCase && v.atoms[at].embed == nil {
			if all.Matches(m.Value) && v.matches(l, m.Value) {
				return m.Value, automaton.Found
			}
			return "", automaton.Empty
		}
	}
	in, out := make([]*automaton.Language, 1, len(l.present)+1), make([]*automaton.Language, 0, len(l.absent))
	for _, at := range l.present {
		in = append(in, v.languageOf(at))
	}
	for _, at := range l.absent {
		out = append(out, v.languageOf(at))
	}
	if slices.Contains(in[1:], nil) || slices.Contains(out, nil) {
		return "", automaton.Limited
	}
	for i, set := range sets {
		in[0] = set
		if v.search.Limit = 0; i < len(sets)-1 {
			v.search.Limit = naturalLimit
		}
		if text, answer := v.search.Shortest(in, out); answer == automaton.Found || i == len(sets)-1 {
			return text, answer
		}
	}
	return "", automaton.Empty
}

// naturalLimit bounds the search for a natural value: the search for any value follows.
const naturalLimit = 2000

// mostWork bounds how many states all searches for one cover look at, so that no cover takes longer than about a minute: each search is
// bounded, and there may be tens of thousands. The largest complete cover that is known came to a quarter of it. mostCutWork bounds them where
// a search met its own limit: the cover is sampled then, and more work makes it no more complete.
const (
	mostWork    = 8_000_000_000
	mostCutWork = 1_000_000_000
)

// budget scales a bound by the limit of the process.
func budget(work int) int { return work / 20_000 * automaton.Limit() }

// noteLimit notes the patterns of a search that met its limit.
func (v *values) noteLimit(l literals) automaton.Answer {
	v.cuts++
	v.search.Budget = min(v.search.Budget, budget(mostCutWork))
	for _, at := range slices.Concat(l.present, l.absent) {
		if text := v.atoms[at].is.String(); len(v.limited) < 2*mostNamed && !slices.Contains(v.limited, text) {
			v.limited = append(v.limited, text)
		}
	}
	return automaton.Limited
}

// sampled says what was not searched to the end.
func (v *values) sampled() (out []string) {
	if v.cuts > 0 {
		out = append(out, fmt.Sprintf("%d searches for a value met their limit of %d steps (%s), so that classes may be missing; their patterns: %s",
			v.cuts, automaton.Limit(), automaton.LimitVariable, strings.Join(v.limited, "; ")))
	}
	if v.search.Spent() {
		out = append(out, fmt.Sprintf("all searches together met their limit of %d states (%s), so that classes may be missing", v.search.Budget, automaton.LimitVariable))
	}
	if len(v.unprintable) > 0 {
		out = append(out, "no value of printable ASCII is enough for some patterns, and no other value was looked for: "+strings.Join(v.unprintable, "; "))
	}
	return out
}
