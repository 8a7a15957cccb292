package proof

import (
	"slices"

	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/classes"
)

// mostVariants bounds the requests of crossed and of longerNames.
const mostVariants = 4096

// crossed returns the request of each witness from the caller of each other witness. A
// rule may decide for a caller whatever the caller asks for. A compiler may get that wrong
// for requests that another rule names, for example where it puts a broad allow before a
// deny.
func crossed(c *classes.Cover) []policy.Request {
	callers, requests := axes(c)
	var out []policy.Request
	for _, request := range requests {
		for _, caller := range callers {
			if len(out) == mostVariants {
				return out
			}
			out = append(out, verdict.AskedBy(request, caller))
		}
	}
	return out
}

// axes returns the callers and the requests of all witnesses, each once, in order. A caller
// has no request, and a request no caller.
func axes(c *classes.Cover) (callers, requests []policy.Request) {
	seenCallers, seenRequests := map[string]bool{}, map[string]bool{}
	for _, class := range c.Classes {
		caller := verdict.AskedBy(policy.Request{}, class.Witness)
		request := verdict.AskedBy(class.Witness, policy.Request{})
		if name := verdict.CallerName(caller); !seenCallers[name] {
			seenCallers[name] = true
			callers = append(callers, caller)
		}
		if key := requestKey(request); !seenRequests[key] {
			seenRequests[key] = true
			requests = append(requests, request)
		}
	}
	return callers, requests
}

// longerNames returns each witness with one of its names a letter longer. Where a gate
// looks at each name of a caller by itself, it also returns each witness with a longer form
// of another witness's name added. A matcher that compares the beginning takes the longer
// name for the name itself.
func longerNames(in Inbound) []policy.Request {
	var names []string
	several := judgesNames(in.Program)
	for _, class := range in.Cover.Classes {
		for _, name := range class.Witness.URIs {
			if !slices.Contains(names, name) && len(names) < mostVariants {
				names = append(names, name)
			}
		}
	}
	var out []policy.Request
	for _, class := range in.Cover.Classes {
		for i, name := range class.Witness.URIs {
			r := class.Witness
			r.URIs = slices.Clone(r.URIs)
			r.URIs[i] = name + "x"
			out = append(out, r)
		}
		for _, name := range names {
			if several && len(class.Witness.URIs) > 0 {
				r := class.Witness
				r.URIs = append(slices.Clone(r.URIs), name+"x")
				out = append(out, r)
			}
		}
		if len(out) > mostVariants {
			return out[:mostVariants]
		}
	}
	return out
}

// judgesNames reports whether a gate looks at each name of a caller by itself.
func judgesNames(p policy.Program) bool {
	named := func(g policy.Gate) bool { return g.Form == policy.Named }
	return slices.ContainsFunc(slices.Concat(p.Gates, p.Shadows), named) || slices.ContainsFunc(p.Routes, func(r policy.Route) bool {
		return slices.ContainsFunc(slices.Concat(r.Gates, r.Shadows), named)
	})
}

// readsPaths reports whether a program looks at paths.
func readsPaths(c *classes.Cover) bool {
	return slices.ContainsFunc(c.Dimensions, func(d classes.Dimension) bool { return slices.Contains(d.Attributes, attribute.Path) })
}
