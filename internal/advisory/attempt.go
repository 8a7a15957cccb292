package advisory

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/behavior"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/classes"
)

// Attempt is a case whose requests try to get past the policies by flaws of an Envoy.
type Attempt struct {
	Reading *verdict.Reading
	// tries has an entry for each request.
	tries []try
}

// try says how a request gets past the policies.
type try struct {
	flaw behavior.Behavior
	// denied is the decision on an Envoy without the flaw, and rejected says why its listener
	// refuses the request instead.
	denied   policy.Decision
	rejected error
	// place is "file:line" of what refuses the request.
	place string
}

// Search looks for requests that pass the policies of cases on the Envoy of the report, and
// asks the Envoy. It returns the results.
func (r *Report) Search(readings []*verdict.Reading, ask func(*verdict.Reading) result.Case) []result.Case {
	var out []result.Case
	for _, reading := range readings {
		attempt := Attempts(reading, r.Behavior)
		for _, note := range strangeCallers(reading, r.Behavior) {
			if !slices.Contains(r.Notes, note) {
				r.Notes = append(r.Notes, note)
			}
		}
		ran := ask(attempt.Reading)
		r.add(attempt, ran)
		out = append(out, ran)
	}
	return out
}

// strangeCallers names the inbounds whose rules are about callers of other trust domains alone than the inbounds trust: no such caller is tried for a flaw of the Envoy.
func strangeCallers(reading *verdict.Reading, as behavior.Set) (notes []string) {
	if !slices.ContainsFunc(behavior.All[:], func(flaw behavior.Behavior) bool { return !as.Fixed(flaw) }) {
		return nil
	}
	var trusted []string
	for _, td := range reading.Case.TrustDomains {
		trusted = append(trusted, td.Name())
	}
	for _, in := range reading.Inbounds() {
		named := verdict.TrustDomains(in.Program.Program)
		if len(named) == 0 || slices.ContainsFunc(named, func(td string) bool { return slices.Contains(trusted, td) }) {
			continue
		}
		notes = append(notes, fmt.Sprintf("%s: all rules that name callers are about callers of %s, and the inbound trusts %s, so that none of them was tried: write --trust-domain %s where that is the mesh's, or trustDomains of the case",
			in, strings.Join(named, ", "), strings.Join(trusted, ", "), named[0]))
	}
	return notes
}

// Attempts looks for requests that pass the policies of a case on an Envoy that behaves in
// this way, and that the policies refuse on an Envoy without its flaws. There is one request
// for each flaw and each rule that it gets past.
func Attempts(reading *verdict.Reading, as behavior.Set) Attempt {
	out := Attempt{Reading: reading.WithoutRequests()}
	var flaws []behavior.Behavior
	for _, flaw := range behavior.All {
		if !as.Fixed(flaw) {
			flaws = append(flaws, flaw)
		}
	}
	if len(flaws) == 0 {
		return out
	}
	for i, in := range out.Reading.OnEnvoy(behavior.Set{}).Inbounds() {
		if in.Protocol.Layer() == policy.L4 {
			continue
		}
		cover := classes.Cut(in.TrustedSurface(), in.Program.Program)
		for _, flaw := range flaws {
			out.add(in, out.Reading.OnEnvoy(behavior.Set{}.Change(flaw, false)).Inbounds()[i], flaw, cover)
		}
	}
	return out
}

// Bypassed says which requests pass the policies of a reading on an Envoy that behaves in this way, although an Envoy without its flaws
// refuses them: a line for each advisory, with its first request.
func Bypassed(known []Advisory, reading *verdict.Reading, as behavior.Set) (lines []string) {
	attempt := Attempts(reading, as)
	for _, a := range known {
		flaw, ok := a.Behavior()
		i := slices.IndexFunc(attempt.tries, func(t try) bool { return t.flaw == flaw })
		if !ok || i < 0 {
			continue
		}
		q := attempt.Reading.Case.Requests[i]
		lines = append(lines, fmt.Sprintf("by %s, %s as %s passes, and the policies refuse it: it is fixed in %s", a.ID, result.Request{Request: q}.Text(), q.From.Name, strings.Join(a.Fixed, ", ")))
	}
	return lines
}

// add looks for requests that pass an inbound by a flaw.
func (a *Attempt) add(sound, flawed verdict.Inbound, flaw behavior.Behavior, cover *classes.Cover) {
	passed := map[string]bool{}
	left := mostSpellings
	for refused, paths := range refusedBy(sound, cover) {
		if left <= 0 {
			return
		}
		if passed[sound.Decide(refused).Origin] {
			continue
		}
		for q := range disguises[flaw](sound.Request(refused), paths) {
			left--
			try, ok := passes(sound, flawed, q)
			if !ok || passed[try.denied.Origin] {
				continue
			}
			passed[try.denied.Origin] = true
			try.flaw = flaw
			q.Want = cases.Allow
			a.Reading.Ask(q)
			a.tries = append(a.tries, try)
			break
		}
	}
}

// mostSpellings bounds the requests that are looked at for one flaw on one inbound.
const mostSpellings = 50_000

// refusedBy has requests that an inbound refuses, with the paths through which a detour may lead. A flaw lets pass only what another rule
// allows, and all callers that a rule refuses may be of one class. So each request that is refused comes as one that is allowed, but for what
// may be the reason: by the caller of that one, or with the headers of the refused one, in their place or beside them. Then it comes as it is.
func refusedBy(sound verdict.Inbound, cover *classes.Cover) iter.Seq2[policy.Request, []string] {
	return func(yield func(policy.Request, []string) bool) {
		var refused, allowed []policy.Request
		for _, class := range cover.Classes {
			if sound.Decide(class.Witness).Effect == policy.Allow {
				allowed = append(allowed, class.Witness)
			} else {
				refused = append(refused, class.Witness)
			}
		}
		for _, r := range refused {
			for _, other := range allowed {
				mixes := []policy.Request{verdict.AskedBy(r, other), withHeadersOf(other, r)}
				if slices.ContainsFunc(r.Headers, func(line policy.Header) bool { return has(other, line.Name) }) {
					mixes = append(mixes, withLines(other, slices.Concat(other.Headers, r.Headers)), withLines(other, slices.Concat(r.Headers, other.Headers)))
				}
				for _, mixed := range mixes {
					if sound.Decide(mixed).Effect != policy.Allow && !yield(mixed, []string{other.PathOnly()}) {
						return
					}
				}
			}
		}
		paths := openPaths(cover)
		for _, r := range refused {
			if !yield(r, paths) {
				return
			}
		}
	}
}

func has(r policy.Request, header string) bool {
	return slices.ContainsFunc(r.Headers, func(line policy.Header) bool { return line.Name == header })
}

// withLines returns a request with these lines of headers: both requests may have one of a name, of which the rules ask for the beginning or the end.
func withLines(r policy.Request, lines []policy.Header) policy.Request {
	r.Headers = lines
	return r
}

// withHeadersOf returns a request with the headers of another one, and with those of its own that the other one lacks.
func withHeadersOf(r, other policy.Request) policy.Request {
	r.Headers = slices.Concat(other.Headers, slices.DeleteFunc(slices.Clone(r.Headers), func(own policy.Header) bool {
		return has(other, own.Name)
	}))
	return r
}

// passes reports whether a request passes on the Envoy with the flaw, and not on the one
// without.
func passes(sound, flawed verdict.Inbound, q cases.Request) (try, bool) {
	if judged, ok := flawed.Expect(q).(verdict.Judged); !ok || judged.Decision.Effect != policy.Allow {
		return try{}, false
	}
	switch e := sound.Expect(q).(type) {
	case verdict.Rejected:
		return try{rejected: e.Why}, true
	case verdict.Judged:
		at, _ := sound.Locate(e.Seen)
		return try{denied: e.Decision, place: at}, e.Decision.Effect == policy.Deny
	default:
		return try{}, false
	}
}
