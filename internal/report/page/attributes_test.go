package page

import (
	"testing"

	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/result"
)

// TestEveryAttributeIsInTheTable makes the truth table of each case. Requests of one cell want the same:
// what tells two requests apart is in the row or in the column.
func TestEveryAttributeIsInTheTable(t *testing.T) {
	t.Parallel()
	for _, c := range casetest.Stories(t) {
		r := result.Case{Case: c}
		for _, q := range c.Requests {
			r.Requests = append(r.Requests, result.Request{Request: q})
		}
		built := report.Build(r)
		protocols := findProtocols([]*report.Case{&built})
		wants := map[string]string{}
		for _, q := range built.Requests {
			cell := q.From + " to " + q.To + ": " + askText(q, protocols[q.To])
			if other, known := wants[cell]; known && other != q.Want {
				t.Errorf("%s: the cell %s has the decisions %s and %s", c.Name, cell, other, q.Want)
			}
			wants[cell] = q.Want
		}
	}
}
