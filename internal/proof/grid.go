package proof

import (
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/classes"
)

// Grid is the truth table of an inbound: every caller that is a witness of a class,
// by every request that is.
type Grid struct {
	Callers, Requests []string
	// Cells has a row for each caller.
	Cells [][]Cell
}

// Cell is how one caller's request is decided. Where there are thousands, not each is
// asked itself, but its class was.
type Cell struct {
	Decision policy.Decision
	// Class is that of the request; Asked and Proven are the class's.
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
		g.Callers = append(g.Callers, callerName(caller))
		var row []Cell
		for _, request := range requests {
			r := caller
			r.Method, r.Path = request.Method, request.Path
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

// axes are the callers and the requests of all witnesses, each once, in order.
func axes(c *classes.Cover) (callers, requests []policy.Request) {
	seenCallers, seenRequests := map[string]bool{}, map[[2]string]bool{}
	for _, class := range c.Classes {
		caller, request := class.Witness, class.Witness
		caller.Method, caller.Path, request.URIs, request.DNS = "", "", nil, nil
		if name := callerName(caller); !seenCallers[name] {
			seenCallers[name] = true
			callers = append(callers, caller)
		}
		if key := [2]string{request.Method, request.Path}; !seenRequests[key] {
			seenRequests[key] = true
			requests = append(requests, request)
		}
	}
	return callers, requests
}

func title(r policy.Request) string {
	if r.Path == "" {
		return "connection"
	}
	return r.Method + " " + r.Path
}
