// Package advisory knows released security advisories: which of them an Envoy has, and
// which requests pass policies because of them.
//
// The advisories are those of the built-in cases. A case holds where the flaw is mended, so
// what becomes of it on an Envoy says whether that Envoy has the flaw. [Attempts] looks for
// requests that policies refuse on an Envoy without a flaw, and that an Envoy with the flaw
// lets pass; the real Envoy then shows whether it does.
//
// The package guarantees that no version number is taken for a flaw: behaviours are asked
// of the Envoy that runs. What it does not: a policy without a finding may still be passed
// by a request that was not tried, since only the spellings of each flaw are. It starts no
// Envoy.
package advisory

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/behavior"
	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/internal/result"
)

// Advisory is an advisory with the cases that show it.
type Advisory struct {
	cases.Advisory
	Cases []cases.Case
}

// Known returns the advisories of the cases, in the order of their numbers.
func Known(all []cases.Case) []Advisory {
	var out []Advisory
	for _, c := range all {
		if c.Advisory == nil {
			continue
		}
		i := slices.IndexFunc(out, func(a Advisory) bool { return a.ID == c.Advisory.ID })
		if i < 0 {
			i = len(out)
			out = append(out, Advisory{Advisory: *c.Advisory})
		}
		out[i].Cases = append(out[i].Cases, c)
	}
	slices.SortFunc(out, func(a, b Advisory) int { return strings.Compare(a.ID, b.ID) })
	return out
}

// named is the field of a case that names an advisory.
var named = regexp.MustCompile(`(?m)^advisory:`)

// BuiltIn returns the advisories of the built-in cases. It reads only the files that name one. An error is a defect of
// the build.
func BuiltIn() ([]Advisory, error) {
	files, err := fs.Glob(casefile.Embedded, "*/*.yaml")
	if err != nil {
		return nil, err
	}
	var all []cases.Case
	for _, name := range files {
		data, err := fs.ReadFile(casefile.Embedded, name)
		if err != nil {
			return nil, err
		}
		if !named.Match(data) {
			continue
		}
		found, err := cases.Parse(path.Join("cases", name), data)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return Known(all), nil
}

// CasesOf returns the cases of all advisories.
func CasesOf(known []Advisory) []cases.Case {
	var out []cases.Case
	for _, a := range known {
		out = append(out, a.Cases...)
	}
	return out
}

// Behavior returns the behaviour by which an Envoy shows the flaw, and false where the gates
// of the cases name none.
func (a Advisory) Behavior() (behavior.Behavior, bool) {
	for _, c := range a.Cases {
		for _, condition := range c.Gate.Behaves {
			if condition.Fixed {
				return condition.Behavior, true
			}
		}
	}
	return 0, false
}

// PresentIn returns the advisories of an Envoy that behaves in this way, a line each. It
// tells only those that a behaviour shows.
func PresentIn(known []Advisory, as behavior.Set) (lines []string) {
	for _, a := range known {
		if b, ok := a.Behavior(); ok && !as.Fixed(b) {
			lines = append(lines, fmt.Sprintf("%s: this %s loses %s; it is fixed in %s", a.ID, a.Product, a.Loses, strings.Join(a.Fixed, ", ")))
		}
	}
	return lines
}

// State is what one Envoy does with the cases of an advisory.
type State string

const (
	// Unknown says that a case was not run.
	Unknown State = "unknown"
	// Absent says that the Envoy decides as the cases want.
	Absent State = "not affected"
	// Present says that the Envoy has the flaw: a case failed as its gate says of such an Envoy.
	Present State = "has the flaw"
	// Wrong says that a case failed although its gate admits the Envoy: the filters are wrong.
	Wrong State = "failed"
)

// Outcome is what became of one case of an advisory. Asked says that requests were sent:
// a case that needs what a compiler does not claim is not applicable either, and says nothing.
type Outcome struct{ Passed, Failed, NotApplicable, Asked bool }

// StateOf returns what the cases of an advisory say together.
func StateOf(outcomes ...Outcome) State {
	state := Absent
	if len(outcomes) == 0 {
		return Unknown
	}
	for _, o := range outcomes {
		switch {
		case o.Failed:
			return Wrong
		case o.NotApplicable && o.Asked:
			state = Present
		case !o.Passed && state == Absent:
			state = Unknown
		}
	}
	return state
}

// outcomeOf returns what the result of a case says.
func outcomeOf(r result.Case) Outcome {
	return Outcome{Passed: r.Passed(), Failed: r.Failed() && !r.Fault, NotApplicable: r.NotApplicable, Asked: len(r.Requests) > 0}
}
