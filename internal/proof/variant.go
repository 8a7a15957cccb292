package proof

import (
	"slices"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/internal/knowncaller"
	"github.com/meshproof/meshproof/internal/servername"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/classes"
)

// inPlaintext returns a request of each class of callers without TLS, where the inbound takes them. The witness of a
// class may have a name, and they may be in that class all the same: with an address that does as well as the name.
func inPlaintext(in Inbound, further []policy.Program) (out []policy.Request) {
	if !in.MTLS.TakesPlaintext() || in.MTLS.TakesTLS() && !in.Inbound.Program.JudgesPlaintext {
		return nil // plaintext passes unjudged, and a witness without a name shows that
	}
	var programs []policy.Program
	for _, program := range append(slices.Clone(further), in.Program) {
		programs = append(programs, knowncaller.InPlaintext(program))
	}
	for _, c := range classes.Cut(in.Surface(), programs...).Classes {
		r := verdict.AskedBy(c.Witness, policy.Request{})
		r.SNI = ""
		out = append(out, r)
	}
	return out
}

// mostVariants bounds the requests of crossed and of longerNames, and those by a detour.
const mostVariants = 4096

// crossed returns each request from each caller, up to a limit. A rule may decide for a
// caller without a look at the request, and it may hide the border of another rule from the
// caller of a class. A compiler may get that wrong for requests that another rule names: it
// may put a broad allow before a deny.
func crossed(callers, requests []policy.Request, limit int) []policy.Request {
	var out []policy.Request
	for _, request := range requests {
		for _, caller := range callers {
			if len(out) == limit {
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

// longerServerNames returns witnesses with a letter behind each server name that the program
// compares. A name that no caller can send, such as an address, has no class with neighbours,
// and yet a matcher that compares the beginning takes the longer name for it.
func longerServerNames(in Inbound) (out []policy.Request) {
	values, _ := valuesOf(in.Program)
	slices.Sort(values[attribute.SNI])
	for _, value := range slices.Compact(values[attribute.SNI]) {
		name := value + "x"
		if value == "" || servername.Check(name) != nil || name != servername.Kept(name) {
			continue
		}
		for _, class := range in.Cover.Classes {
			if len(out) == mostVariants {
				return out
			}
			if r := class.Witness; !verdict.Nameless(r) {
				r.SNI = name
				out = append(out, r)
			}
		}
	}
	return out
}

// longerNames returns each witness with one of its names a letter longer. Where a gate
// looks at each name of a caller by itself, it also returns each witness with a longer form
// added, of another witness's name and of each name that a rule compares. A matcher that compares the beginning takes the longer
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
	for c := range in.Program.Conditions() {
		is, ok := c.(policy.Is)
		if !several || !ok || is.Attribute != attribute.URISAN || is.Match.Kind != policy.Exact || slices.Contains(names, is.Match.Value) || len(names) == mostCompared {
			continue
		}
		if _, err := spiffeid.FromString(is.Match.Value); err == nil {
			names = append(names, is.Match.Value)
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

// mostCompared bounds the names of rules in longer forms.
const mostCompared = 64

// judgesNames reports whether a gate looks at each name of a caller by itself.
func judgesNames(p policy.Program) bool {
	named := func(g policy.Gate) bool { return g.Form == policy.Named }
	return slices.ContainsFunc(slices.Concat(p.Gates, p.Shadows), named) || slices.ContainsFunc(p.Routes, func(r policy.Route) bool {
		return slices.ContainsFunc(slices.Concat(r.Gates, r.Shadows), named)
	})
}

// reads reports whether a program looks at the attribute.
func reads(c *classes.Cover, a *policy.Attribute) bool {
	return slices.ContainsFunc(c.Dimensions, func(d classes.Dimension) bool { return slices.Contains(d.Attributes, a) })
}
