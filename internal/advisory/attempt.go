package advisory

import (
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
		ran := ask(attempt.Reading)
		r.add(attempt, ran)
		out = append(out, ran)
	}
	return out
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

// add looks for requests that pass an inbound by a flaw.
func (a *Attempt) add(sound, flawed verdict.Inbound, flaw behavior.Behavior, cover *classes.Cover) {
	passed := map[string]bool{}
	paths := openPaths(cover)
	for _, class := range cover.Classes {
		if d := sound.Decide(class.Witness); d.Effect == policy.Allow || passed[d.Origin] {
			continue
		}
		for q := range disguises[flaw](sound.Request(class.Witness), paths) {
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
