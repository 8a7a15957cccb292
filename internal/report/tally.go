package report

import (
	"strings"

	"github.com/meshproof/meshproof/internal/feature"
	"github.com/meshproof/meshproof/internal/terminal"
)

// Tally counts cases by their status.
type Tally struct {
	Passed, Failed int
	// Skipped counts the gaps only, so not the cases that are not applicable.
	Skipped, NotApplicable int
}

// Total returns the number of all cases.
func (t Tally) Total() int { return t.Passed + t.Failed + t.Skipped + t.NotApplicable }

// Plus adds up two tallies.
func (t Tally) Plus(u Tally) Tally {
	return Tally{t.Passed + u.Passed, t.Failed + u.Failed, t.Skipped + u.Skipped, t.NotApplicable + u.NotApplicable}
}

// Add counts a case.
func (t *Tally) Add(c Case) {
	switch {
	case c.NotApplicable:
		t.NotApplicable++
	case c.Skipped != "":
		t.Skipped++
	case c.Passed:
		t.Passed++
	default:
		t.Failed++
	}
}

func Count(cases []Case) Tally {
	var t Tally
	for _, c := range cases {
		t.Add(c)
	}
	return t
}

// Tally counts the cases of a profile at a level. A case that needs features of two
// profiles counts for both.
func (r Run) Tally(p feature.Profile, l feature.Level) Tally {
	var t Tally
	for _, c := range r.Cases {
		if level, in := c.Level(p); in && level == l {
			t.Add(c)
		}
	}
	return t
}

// Level returns the level of a case in a profile, and whether the case belongs to the
// profile: no level if it does not. A case that needs an extended feature of the profile is extended, as in Gateway
// API's conformance.
func (c Case) Level(p feature.Profile) (l feature.Level, in bool) {
	for _, name := range c.Features {
		f, ok := feature.Lookup(name)
		if !ok || f.Profile != p {
			continue
		}
		if in = true; l != feature.Extended {
			l = f.Level
		}
	}
	return l, in
}

// String is text such as "12 passed, 1 failed", and "none" for no case. It leaves out zeros.
func (t Tally) String() string {
	var parts []string
	for _, part := range []struct {
		n    int
		what string
	}{{t.Passed, "passed"}, {t.Failed, "failed"}, {t.Skipped, "skipped"}, {t.NotApplicable, "not applicable"}} {
		if part.n > 0 {
			parts = append(parts, terminal.Number(part.n)+" "+part.what)
		}
	}
	if parts == nil {
		return "none"
	}
	return strings.Join(parts, ", ")
}
