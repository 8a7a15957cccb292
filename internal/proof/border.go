package proof

import (
	"slices"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/classes"
)

// readsPaths reports whether a path makes a difference.
func readsPaths(c *classes.Cover) bool {
	return slices.ContainsFunc(c.Dimensions, func(d classes.Dimension) bool { return slices.Contains(d.Attributes, attribute.Path) })
}

// mostCrossed bounds the requests of crossed.
const mostCrossed = 4096

// crossed returns the request of each witness from the caller of each other: what a rule
// decides for a caller whatever is asked, a compiler may get wrong for what another rule
// asks for, as where a broad allow came to stand before a deny.
func crossed(c *classes.Cover) []policy.Request {
	callers, requests := axes(c)
	var out []policy.Request
	for _, request := range requests {
		for _, caller := range callers {
			if len(out) == mostCrossed {
				return out
			}
			r := caller
			r.Method, r.Path = request.Method, request.Path
			out = append(out, r)
		}
	}
	return out
}

// mostLonger bounds the requests of longerNames.
const mostLonger = 4096

// longerNames returns each witness with one of its names a letter longer, or, where
// callers have several names, with a longer form of another witness's name besides: a
// matcher that compares the beginning takes it for the name itself.
func longerNames(in Inbound) []policy.Request {
	var names []string
	several := judgesNames(in.Program)
	for _, class := range in.Cover.Classes {
		for _, name := range class.Witness.URIs {
			if !slices.Contains(names, name) && len(names) < mostLonger {
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
		if len(out) > mostLonger {
			return out[:mostLonger]
		}
	}
	return out
}

// judgesNames reports whether some gate looks at each name of a caller by itself.
func judgesNames(p policy.Program) bool {
	named := func(g policy.Gate) bool { return g.Form == policy.Named }
	return slices.ContainsFunc(slices.Concat(p.Gates, p.Shadows), named) || slices.ContainsFunc(p.Routes, func(r policy.Route) bool {
		return slices.ContainsFunc(slices.Concat(r.Gates, r.Shadows), named)
	})
}

func normalizes(n policy.PathNormalization, from, to string) bool {
	got, err := n.Apply(from)
	return err == nil && got == to && from != to
}
