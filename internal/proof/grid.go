package proof

import (
	"fmt"

	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/classes"
)

// Grid is the truth table of an inbound: the callers of all witnesses by the requests of all
// witnesses.
type Grid struct {
	Callers, Requests []string
	// Cells has a row for each caller.
	Cells [][]Cell
}

// Cell is how one caller's request is decided. Where there are thousands of cells, not each
// was asked for itself, but its class was.
type Cell struct {
	Decision policy.Decision
	// Class is the class of the request. Asked and Proven say whether a request of the
	// class was sent, and whether the class is proven.
	Class         int
	Asked, Proven bool
}

// Grid draws the truth table. A caller without a name is called "anonymous".
func (v InboundVerdict) Grid() Grid {
	callers, requests := axes(v.Inbound.Cover)
	var g Grid
	for _, request := range requests {
		g.Requests = append(g.Requests, title(request))
	}
	for _, caller := range callers {
		g.Callers = append(g.Callers, verdict.CallerName(caller))
		var row []Cell
		for _, request := range requests {
			r := verdict.AskedBy(request, caller)
			cell := Cell{Decision: policy.Decide(v.Inbound.Program, r), Class: classes.Unclassed}
			if class, ok := v.Inbound.Cover.Locate(r); ok {
				cell.Class, cell.Asked, cell.Proven = class, v.Classes[class].Requests > 0, v.Classes[class].Proven
			}
			row = append(row, cell)
		}
		g.Cells = append(g.Cells, row)
	}
	return g
}

// requestKey tells requests of different text apart.
func requestKey(r policy.Request) string { return fmt.Sprintf("%q", r) }

// title names a request in a column of the table.
func title(r policy.Request) string {
	if r.Path == "" {
		return "connection"
	}
	return r.Method + " " + r.Path
}
