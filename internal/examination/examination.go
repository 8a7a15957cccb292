// Package examination reads the filters of a compiler back and holds them against the
// policies: it finds the requests that the two decide differently.
//
// It guarantees that no request is left out: the classes of requests are cut by the policies
// and by the filters together, so that a caller that the filters let in by mistake is in a class of
// its own. A part of a filter that cannot be read is named, and the filters are then not
// verified. The package decides on paper and asks no Envoy: [Examination.Reading] has the
// requests to ask.
package examination

import (
	"fmt"
	"slices"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/knowncaller"
	"github.com/meshproof/meshproof/internal/openregex"
	"github.com/meshproof/meshproof/internal/unsendable"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/internal/virtualhost"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/classes"
	"github.com/meshproof/meshproof/xds"
	"github.com/meshproof/meshproof/xds/lift"
)

// Examination is what the filters of a case come to.
type Examination struct {
	// Reading is the case with the requests that Envoy has to be asked. What must become of
	// them is up to the policies alone.
	Reading *verdict.Reading
	// Questions say of each of these requests why it is asked.
	Questions []Question
	// Unread names what nothing can be said of, one line each: a part of a filter that no
	// policy can ask for, or classes that are incomplete.
	Unread []string
	// Doubts is the number of lines of Unread that are about the Envoy alone: it reads a regular
	// expression of the filters otherwise than later releases, see [openregex.Doubt].
	Doubts int
	// Classes is the number of classes of requests. Differing is the number of classes that
	// the filters decide otherwise than the policies.
	Classes, Differing int
	// Plaintext is the number of classes that the filters decide otherwise on paper for callers without TLS.
	Plaintext int

	// anyNames leaves the names of policies to the compiler.
	anyNames bool
}

// Question is a request to ask, and what its class is decided by on paper.
type Question struct {
	// Class says which requests are of the class.
	Class string
	// Policies is the decision of the policies, Filters the decision of the filters as they were read.
	Policies, Filters policy.Decision
	// Differs is true where the two are not the same, and the filters were read whole.
	Differs bool
}

// mostAsked bounds the differing classes of an inbound that are asked: the first ones show
// the mistake.
const mostAsked = 32

// Examine examines the filters of a case: an entry for each inbound, in order. It asks for every
// class that the filters decide otherwise, and for a sample of the other classes. Without
// anyNames the filters must name the same policies.
func Examine(reading *verdict.Reading, filters []xds.Filters, anyNames bool, sample int) *Examination {
	x := &Examination{Reading: reading.WithoutRequests(), anyNames: anyNames}
	for i, in := range x.Reading.Inbounds() {
		x.inbound(in, filters[i], sample)
	}
	return x
}

func (x *Examination) inbound(in verdict.Inbound, filters xds.Filters, sample int) {
	lost := slices.Concat(tokensApart(in, filters.Tokens), listenerApart(in, filters), AsksApart(in, filters))
	for _, apart := range ReachedApart(in, filters) {
		lost = append(lost, "the compiler "+apart)
	}
	filters = withoutLogs(filters)
	if takesBoth(in) {
		filters = askingForNames(filters)
	}
	program, unread := lift.Program(filters, in.Port)
	lost = append(lost, unread...)
	cover := classes.Cut(in.Surface(), in.Program.Program, program)
	if doubt := openregex.Doubt(filters, x.Reading.Case.Normalization, x.Reading.Envoy()); doubt != "" && !openregex.Settled(cover, in.Program.Program, filters) {
		lost = append(lost, doubt)
		x.Doubts++
	}
	lost = append(lost, otherTargets(filters)...)
	for _, part := range lost {
		x.Unread = append(x.Unread, fmt.Sprintf("%s: %s", in, part))
	}
	x.Classes += len(cover.Classes)
	var agreeing []int
	differing := 0
	for i, c := range cover.Classes {
		q := in.Request(c.Witness)
		// TLS keeps out a caller without a name, and plaintext is asked for below.
		if verdict.Nameless(c.Witness) {
			continue
		}
		question := x.question(in, program, c.String(), c.Witness)
		if !question.Differs {
			agreeing = append(agreeing, i)
			continue
		}
		if differing++; differing <= mostAsked {
			// Of filters that were read in part, only Envoy knows the decision.
			question.Differs = len(lost) == 0
			x.ask(q, question)
		}
	}
	if len(lost) == 0 {
		outside := x.unexamined(in, program, cover)
		x.Differing += differing + outside
		// One request that is decided otherwise says more.
		if outside == 0 {
			for _, reason := range cover.Sampled {
				x.Unread = append(x.Unread, fmt.Sprintf("%s: not every request is in a class: %s", in, reason))
			}
			for _, reason := range unsendable.Widened(cover, in.Surface(), in.Program.Program, program, hasIdentity) {
				x.Unread = append(x.Unread, fmt.Sprintf("%s: %s", in, reason))
			}
			for _, reason := range unsendable.Elsewhere(in.Surface(), in.Program.Program, program) {
				x.Unread = append(x.Unread, fmt.Sprintf("%s: %s", in, reason))
			}
		}
	}
	for n := range min(sample, len(agreeing)) {
		c := cover.Classes[agreeing[n*len(agreeing)/min(sample, len(agreeing))]]
		x.ask(in.Request(c.Witness), x.question(in, program, c.String(), c.Witness))
	}
	x.plaintext(in, program)
}

// otherTargets names the routes that take requests whose target is no path: the lab sends none. A
// route without a path judges those as it judges all others.
func otherTargets(filters xds.Filters) (out []string) {
	for _, route := range filters.Routes {
		by, ok := route.Match.GetPathSpecifier().(*routev3.RouteMatch_Prefix)
		if everything := ok && by.Prefix == ""; !everything && virtualhost.TakesAnyTarget(route.Match) {
			out = append(out, fmt.Sprintf("route %q takes requests whose target does not begin with /, as in OPTIONS *, and none is asked", route.Name))
		}
	}
	return out
}

// unexamined asks for requests that are in no class, where the filters decide them otherwise than
// the policies. Such callers have several names: the policies look at each of them and the
// filters at all as one text, or the other way round. It returns their number.
func (x *Examination) unexamined(in verdict.Inbound, program policy.Program, cover *classes.Cover) (differing int) {
	if cover.Complete() {
		return 0
	}
	for i := range cover.Classes[:min(len(cover.Classes), mostAsked)] {
		for _, n := range cover.Neighbours(i) {
			r := n.Request
			if n.Class != classes.Unclassed || len(r.URIs)+len(r.DNS) < 2 || differing == mostAsked {
				continue
			}
			if !hasIdentity(r) {
				continue
			}
			if question := x.question(in, program, "callers with several names", r); question.Differs {
				differing++
				x.ask(in.Request(r), question)
			}
		}
	}
	return differing
}

// hasIdentity reports whether TLS lets a caller in: its first name is a SPIFFE ID.
func hasIdentity(r policy.Request) bool {
	if len(r.URIs) == 0 {
		return false
	}
	id, err := spiffeid.FromString(r.URIs[0])
	return err == nil && id.Path() != ""
}

// plaintext asks for each class as a caller without TLS, where the policies judge it. Those that the
// filters decide otherwise on paper come first.
func (x *Examination) plaintext(in verdict.Inbound, program policy.Program) {
	if !takesBoth(in) {
		return
	}
	type asked struct {
		request  policy.Request
		question Question
	}
	seen := map[string]bool{}
	var all []asked
	for _, c := range classes.Cut(in.Surface(), knowncaller.InPlaintext(in.Program.Program), knowncaller.InPlaintext(program)).Classes {
		r := verdict.AskedBy(c.Witness, policy.Request{})
		if key := fmt.Sprintf("%#v", r); !seen[key] {
			seen[key] = true
			all = append(all, asked{r, x.question(in, program, "callers in plaintext", r)})
		}
	}
	slices.SortStableFunc(all, func(a, b asked) int {
		switch {
		case a.question.Differs == b.question.Differs:
			return 0
		case a.question.Differs:
			return -1
		default:
			return 1
		}
	})
	for _, a := range all[:min(len(all), mostAsked)] {
		if a.question.Differs {
			x.Plaintext++
		}
		a.question.Differs = false // on paper such a caller is one without a name, and Envoy is asked
		x.ask(in.Request(a.request), a.question)
	}
}

// takesBoth reports whether the policies judge callers without TLS too.
func takesBoth(in verdict.Inbound) bool {
	return in.MTLS.TakesPlaintext() && in.Program.JudgesPlaintext
}

func (x *Examination) question(in verdict.Inbound, program policy.Program, class string, r policy.Request) Question {
	q := Question{Class: class, Policies: policy.Decide(in.Program.Program, r), Filters: policy.Decide(program, r)}
	q.Differs = x.differ(q.Policies, q.Filters)
	return q
}

// differ reports whether Envoy would show two decisions to be different.
func (x *Examination) differ(a, b policy.Decision) bool {
	same := func(a, b policy.Verdict) bool { return a.Effect == b.Effect && (x.anyNames || a.Origin == b.Origin) }
	return !same(a.Verdict, b.Verdict) || a.Effect == policy.Deny && a.Layer != b.Layer ||
		a.Shadowed != b.Shadowed || !same(a.Shadow, b.Shadow)
}

func (x *Examination) ask(q cases.Request, question Question) {
	x.Reading.Ask(q)
	x.Questions = append(x.Questions, question)
}

// String says in what the class is decided differently.
func (q Question) String() string {
	p, f := q.Policies, q.Filters
	switch {
	case p.Verdict != f.Verdict:
		return fmt.Sprintf("%s: the policies say %s, the filters %s", q.Class, p.Verdict, f.Verdict)
	case p.Effect == policy.Deny && p.Layer != f.Layer:
		return fmt.Sprintf("%s: the policies deny on %s, the filters on %s", q.Class, p.Layer, f.Layer)
	default:
		return fmt.Sprintf("%s: the shadow of the policies says %s, the shadow of the filters %s", q.Class, shadowText(p), shadowText(f))
	}
}

func shadowText(d policy.Decision) string {
	if !d.Shadowed {
		return "nothing"
	}
	return d.Shadow.String()
}
