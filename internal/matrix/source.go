package matrix

import (
	"math/rand/v2"
	"slices"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/feature"
	"github.com/meshproof/meshproof/internal/policyset"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy/classes"
)

// source draws policies that no compiler can know beforehand. Every other set is drawn at
// random; the sets between are made from cases, with other names, so that a compiler does not
// get by with what it knows of the cases.
type source struct {
	suite Suite
	forms []policyset.Form
	// accepted are the cases whose policies are accepted, refused the others, in an order that
	// follows from the seed.
	accepted, refused []cases.Case
	// originals are the accepted cases and behind them those of more than [mostClasses] classes. They are asked about with other
	// names. No other set is made of the latter: a list that is longer or a rule that is repeated multiplies what it takes.
	originals []cases.Case
}

// mostClasses is how many classes of requests a case has at most of which sets are made.
const mostClasses = 1000

func newSource(s Suite, of []cases.Case, forms []policyset.Form) *source {
	out := &source{suite: s, forms: forms}
	var crowded []cases.Case
	for _, c := range of {
		switch reason, _ := s.Selection.Skip(c); {
		case reason != "":
		case c.ExpectError != "":
			out.refused = append(out.refused, c)
		case classesOf(c) > mostClasses:
			crowded = append(crowded, c)
		default:
			out.accepted = append(out.accepted, c)
		}
	}
	r := rand.New(rand.NewPCG(s.Seed, 0))
	for _, list := range [][]cases.Case{out.accepted, out.refused} {
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
	out.originals = slices.Concat(out.accepted, crowded)
	return out
}

// classesOf counts the classes of requests of all inbounds. A case that cannot be read has none.
func classesOf(c cases.Case) (count int) {
	reading, err := verdict.Read(c)
	if err != nil {
		return 0
	}
	for _, in := range reading.Inbounds() {
		count += len(classes.Cut(in.Surface(), in.Program.Program).Classes)
	}
	return count
}

// renamed returns the set of that number which is a case with other names, and nothing else changed.
func (s *source) renamed(number uint64) (cases.Case, bool) {
	return policyset.Renamed(s.originals[number%uint64(len(s.originals))], s.suite.Seed, firstRenamed+number)
}

// mostTries is how many sets are drawn to get a set that the selection admits.
const mostTries = 200

// draw returns the set of that number. It returns false where no set may be asked.
func (s *source) draw(number uint64) (cases.Case, bool) {
	if n := number / 2; number%2 == 1 && len(s.accepted) > 0 {
		if c, ok := policyset.FromCase(s.accepted[n%uint64(len(s.accepted))], s.suite.Seed, number); ok {
			return c, true
		}
	}
	return s.admitted(number, policyset.DrawFresh)
}

// admitted returns the first of several drawn sets that the selection admits, false where it admits none.
func (s *source) admitted(number uint64, draw func(seed, number uint64, of ...policyset.Form) cases.Case) (cases.Case, bool) {
	for try := range uint64(mostTries) {
		if c := draw(s.suite.Seed, number+try<<32, s.forms...); s.admits(c) {
			return c, true
		}
	}
	return cases.Case{}, false
}

// admits reports whether the compiler claims all that a drawn set needs.
func (s *source) admits(c cases.Case) bool { return s.claims(c, cases.Case{}) }

// claims reports whether the compiler claims all that one set needs more than another one.
func (s *source) claims(set, than cases.Case) bool {
	had := policyset.Needs(than)
	return !slices.ContainsFunc(policyset.Needs(set), func(name feature.Name) bool {
		f, _ := feature.Lookup(name)
		return !slices.Contains(had, name) && s.suite.Selection.lacks(f) != ""
	})
}

// mostBesides is how many sound cases are tried beside a broken one: not each has a list for its items.
const mostBesides = 8

// misspelt is how many sets with a misspelt value are drawn for each other one: there are many forms, and nothing is sent.
const misspelt = 10

// mustRefuse returns cases whose policies must be refused: at most so many alone, as many beside what is sound, and
// [misspelt] times as many with one misspelt value in what is sound.
func (s *source) mustRefuse(most int) []cases.Case {
	var out []cases.Case
	for i, c := range s.refused[:min(most, len(s.refused))] {
		if c, ok := policyset.FromCase(c, s.suite.Seed, uint64(i)); ok {
			out = append(out, c)
		}
	}
	for i := range min(most, 2*len(s.refused)) {
		for try := range min(mostBesides, len(s.accepted)) {
			sound := s.accepted[(i*mostBesides+try)%len(s.accepted)]
			if c, ok := policyset.BrokenSet(s.refused[i%len(s.refused)], sound, s.suite.Seed, uint64(i+i/len(s.refused))); ok {
				out = append(out, c)
				break
			}
		}
	}
	misspellings := policyset.NewMisspellings(s.refused)
	for i := range misspelt * most * min(len(s.accepted), 1) {
		if c, ok := misspellings.Next(s.accepted[i%len(s.accepted)], s.suite.Seed, uint64(i)); ok {
			out = append(out, c)
		}
	}
	return out
}
