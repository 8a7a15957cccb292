package page

import (
	"cmp"
	"slices"

	"github.com/meshproof/meshproof/internal/advisory"
	"github.com/meshproof/meshproof/internal/report"
)

// advisoryView is a row of the table of advisories.
type advisoryView struct {
	report.Advisory
	// Story is the ID of the story with the cases.
	Story string
	Cells []advisoryCell
}

// advisoryCell is what the Envoy of one run does with the cases of an advisory.
type advisoryCell struct{ State string }

// Class is the name of the state in the style.
func (c advisoryCell) Class() string {
	switch advisory.State(c.State) {
	case advisory.Absent:
		return string(passed)
	case advisory.Present, advisory.Wrong:
		return string(failed)
	default:
		return "absent"
	}
}

// Words is the state with a sign, for readers who see no colours.
func (c advisoryCell) Words() string {
	sign := map[advisory.State]string{advisory.Absent: "✓ ", advisory.Present: "✗ ", advisory.Wrong: "✗ "}[advisory.State(c.State)]
	return sign + c.State
}

// advisories fills the table of advisories, Envoy's own first.
func (v *view) advisories() {
	outcomes := map[string][][]advisory.Outcome{}
	for _, p := range v.Profiles {
		for _, s := range p.Stories {
			for _, c := range s.Cases {
				a := c.advisory()
				if a == nil {
					continue
				}
				if outcomes[a.ID] == nil {
					outcomes[a.ID] = make([][]advisory.Outcome, len(c.runs))
					v.Advisories = append(v.Advisories, advisoryView{Advisory: *a, Story: s.ID})
				}
				for i, r := range c.runs {
					if r != nil {
						outcomes[a.ID][i] = append(outcomes[a.ID][i], advisory.Outcome{Passed: r.Status() == string(passed), Failed: r.Failed() && !r.Fault, NotApplicable: r.NotApplicable, Asked: len(r.Requests) > 0})
					}
				}
			}
		}
	}
	for i := range v.Advisories {
		a := &v.Advisories[i]
		for _, run := range outcomes[a.ID] {
			a.Cells = append(a.Cells, advisoryCell{string(advisory.StateOf(run...))})
		}
	}
	slices.SortFunc(v.Advisories, func(a, b advisoryView) int {
		return cmp.Or(cmp.Compare(otherProduct(a), otherProduct(b)), cmp.Compare(a.ID, b.ID))
	})
}

func otherProduct(a advisoryView) int {
	if a.Product == advisory.Envoy {
		return 0
	}
	return 1
}

// advisory returns the advisory that the case shows, and nil for none.
func (c *caseView) advisory() *report.Advisory {
	for _, r := range c.runs {
		if r != nil {
			return r.Advisory
		}
	}
	return nil
}
