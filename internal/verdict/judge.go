package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

// Stated is what a case states of a request.
type Stated struct {
	Want cases.Want
	// By, Shadow and ShadowBy are nil where the case states none.
	By       *string
	Shadow   *cases.Shadow
	ShadowBy *string
	// AnyNames leaves the names of policies to the compiler: By and ShadowBy are not
	// compared, and neither are the names that the policies give. What was decided is.
	AnyNames bool
}

// StatedOf returns what the case states of a request.
func StatedOf(q cases.Request, anyNames bool) Stated {
	return Stated{Want: q.Want, By: q.By, Shadow: q.Shadow, ShadowBy: q.ShadowBy, AnyNames: anyNames}
}

// Judgement is what became of a request, held against what must become of it.
type Judgement struct {
	Finding evidence.Finding
	// Judged tells whether the policies decided, as far as the evidence shows. Only then
	// Decision, Seen and Rule are set: the oracle's decision, the request as the policies
	// see it, and the text of the rule that decides.
	Judged   bool
	Decision policy.Decision
	Seen     policy.Request
	Rule     string
	// Problems say what differs; none for a request that went as expected and stated.
	Problems []Problem
}

// ProblemTexts returns the problems as text; nil for none.
func (j Judgement) ProblemTexts() []string {
	var out []string
	for _, p := range j.Problems {
		out = append(out, p.String())
	}
	return out
}

// Judge holds evidence against what must become of a request and what the case states.
// Evidence that contradicts itself is the only problem of its request.
func Judge(expected Expectation, stated Stated, e evidence.Evidence) Judgement {
	finding, err := e.Find()
	j := Judgement{Finding: finding}
	if err != nil {
		j.add(Contradiction, nil, err)
		return j
	}
	if !meets(stated.Want, finding) {
		j.add(OtherWant, stated.Want, describe(finding))
	}
	j.compareExpected(expected, stated.AnyNames, e)
	j.compareStated(stated)
	return j
}

func (j *Judgement) add(kind Kind, expected, found any) {
	j.Problems = append(j.Problems, Problem{kind, fmt.Sprint(expected), fmt.Sprint(found)})
}

// compareExpected holds the finding against the expectation. Where mTLS answers although
// the policies should, what the case wants is all there is to hold against it.
func (j *Judgement) compareExpected(expected Expectation, anyNames bool, e evidence.Evidence) {
	f := j.Finding
	switch x := expected.(type) {
	case HandshakeFails:
		if f.Form != evidence.HandshakeFailed {
			j.add(NotKeptOut, x.Why, describe(f))
		}
	case Rejected:
		if f.Form != evidence.HandshakeFailed && (f.Form != evidence.Rejected || f.Status != x.Status || x.Status == 401 && judgedBehind(e)) {
			j.add(NotRejected, fmt.Sprintf("answer %d (%s)", x.Status, x.Why), describe(f))
		}
	case Disputed:
		j.add(OtherOpinion, x.Oracle, x.Reading)
	case Judged:
		// Envoy may answer for another reason than authorization; the case says with
		// which status.
		if f.Form != evidence.HandshakeFailed && (f.Form != evidence.Rejected || f.Judged || x.Decision.Effect == policy.NoRoute) {
			j.compareDecision(x, anyNames, e)
		}
	}
}

// judgedBehind reports whether a policy judged a request behind the filter for tokens. Envoy asks
// an authorizer in front of it.
func judgedBehind(e evidence.Evidence) bool {
	return slices.ContainsFunc(e.Log.Filters, func(f xds.FilterLog) bool { return f.Enforced.Ran && !f.Asks }) || len(e.Log.Filters) == 0 && e.Log.Enforced.Ran
}

// compareDecision holds the finding against the oracle, and the oracle against the plain
// evaluator.
func (j *Judgement) compareDecision(x Judged, anyNames bool, e evidence.Evidence) {
	d, f := x.Decision, j.Finding
	j.Judged, j.Decision, j.Seen, j.Rule = true, d, x.Seen, x.Rule
	if x.Second != d {
		j.add(OtherOpinion, fmt.Sprintf("%#v", d), fmt.Sprintf("%#v", x.Second))
	}
	same := func(a, b policy.Verdict) bool { return a == b || anyNames && a.Effect == b.Effect }
	judged := f.Judged && same(f.Verdict, d.Verdict)
	switch {
	case d.Effect == policy.NoRoute:
		onL7 := func(l xds.FilterLog) bool { return l.Layer == policy.L7 && l.Enforced.Ran }
		judged = f.Form == evidence.Rejected && f.Status == 404 && e.Log.Details == "route_not_found" && !slices.ContainsFunc(e.Log.Filters, onL7) && !(len(e.Log.Filters) == 0 && f.Judged)
	case x.Ungated:
		judged = !f.Judged && f.Form == evidence.Served
	}
	if !judged {
		j.add(OtherDecision, d.Verdict, describe(f))
	}
	if f.Form == evidence.Refused && f.Layer != d.Layer {
		j.add(OtherLayer, d.Layer, f.Layer)
	}
	switch {
	case d.Shadowed != f.Shadow.Ran:
		j.add(OtherShadowRun, d.Shadowed, f.Shadow.Ran)
	case !same(d.Shadow, f.Shadow.Verdict):
		j.add(OtherShadow, d.Shadow, f.Shadow.Verdict)
	}
	if asked := slices.ContainsFunc(e.Log.Filters, func(f xds.FilterLog) bool { return f.Asked }); x.Asked != asked {
		j.add(OtherAsked, x.Asked, asked)
	}
	// With names of its own, a compiler may divide the gates among filters as it likes.
	if x.Gates != nil && !anyNames {
		j.compareFilters(x.Gates, e.Log.Filters)
	}
	if e.Arrival != nil && e.Call.Protocol.Layer() == policy.L7 && e.Arrival.Path != x.Seen.Path {
		j.add(OtherPath, x.Seen.Path, e.Arrival.Path)
	}
}

// compareFilters holds what each filter said against its gate, and what each shadow said
// against the shadow of its name.
func (j *Judgement) compareFilters(traces []policy.Trace, logs []xds.FilterLog) {
	var gates, shadows, filters, observers []string
	for _, t := range traces {
		if t.Shadow {
			shadows = append(shadows, shadowText(t.Gate.Layer, t.Gate.Name, t.Verdict))
		} else {
			gates = append(gates, fmt.Sprintf("%s: %s", t.Gate.Layer, t.Verdict))
		}
	}
	for _, f := range logs {
		if f.Enforced.Ran {
			filters = append(filters, fmt.Sprintf("%s: %s", f.Layer, f.Enforced.Verdict))
		}
		if f.Shadow.Ran {
			observers = append(observers, shadowText(f.Layer, f.ShadowName, f.Shadow.Verdict))
		}
	}
	if !slices.Equal(gates, filters) {
		j.add(OtherFilters, strings.Join(gates, ", "), strings.Join(filters, ", "))
	}
	if !slices.Equal(shadows, observers) {
		j.add(OtherShadows, strings.Join(shadows, ", "), strings.Join(observers, ", "))
	}
}

func shadowText(layer policy.Layer, name string, v policy.Verdict) string {
	if name == "" {
		return fmt.Sprintf("%s: %s", layer, v)
	}
	return fmt.Sprintf("%s %s: %s", layer, name, v)
}

// compareStated holds the finding against what the case states of its policies. Where no
// policy judged, Envoy names none.
func (j *Judgement) compareStated(s Stated) {
	f := j.Finding
	if s.Shadow != nil && *s.Shadow != shadowOf(f) {
		j.add(OtherStatedShadow, *s.Shadow, shadowOf(f))
	}
	if s.AnyNames {
		return
	}
	if s.By != nil && *s.By != f.Verdict.Origin {
		j.add(OtherStatedBy, *s.By, nameOf(f.Verdict))
	}
	if s.ShadowBy != nil && *s.ShadowBy != f.Shadow.Verdict.Origin {
		j.add(OtherStatedShadowBy, *s.ShadowBy, nameOf(f.Shadow.Verdict))
	}
}

func nameOf(v policy.Verdict) string { return cmp.Or(v.Origin, "no policy") }

// meets reports whether a finding is what the case wants.
func meets(want cases.Want, f evidence.Finding) bool {
	if code, ok := want.Status(); ok {
		switch f.Form {
		case evidence.Refused:
			// An authorizer that gives no answer has a status of its own.
			return f.Layer == policy.L7 && (code == 403 || code != 400 && code == f.Status)
		case evidence.Rejected:
			// 403 is the form of a refusal, and this was none.
			return f.Status == code && code != 403
		default:
			return false
		}
	}
	switch want {
	case cases.Allow:
		return f.Form == evidence.Served
	case cases.Close:
		return f.Form == evidence.Refused && f.Layer == policy.L4
	case cases.HandshakeFailure:
		return f.Form == evidence.HandshakeFailed
	case cases.Refused:
		return f.Form != evidence.Served
	default:
		return f.Form == evidence.Refused
	}
}

// shadowOf returns what the shadow said, in the words of a case file.
func shadowOf(f evidence.Finding) cases.Shadow {
	switch {
	case !f.Shadow.Ran:
		return cases.ShadowNone
	case f.Shadow.Verdict.Effect == policy.Allow:
		return cases.ShadowAllow
	default:
		return cases.ShadowDeny
	}
}

// describe returns a few words for what Envoy did.
func describe(f evidence.Finding) string {
	switch {
	case f.Form == evidence.Rejected:
		return fmt.Sprintf("%s with %d", f.Form, f.Status)
	case f.Judged:
		return fmt.Sprintf("%s (%s)", f.Form, f.Verdict)
	default:
		return f.Form.String()
	}
}

// Kind tells what is wrong with a request.
type Kind uint8

// The kinds of problems.
const (
	// Contradiction is evidence that proves nothing: its sides disagree, or the transport
	// failed. Found is the error.
	Contradiction Kind = iota
	// OtherWant is an end of the request that the case does not want.
	OtherWant
	// NotKeptOut is a caller that mTLS should have kept out. Expected is why.
	NotKeptOut
	// NotRejected is a path or a token that the listener should have refused. Expected is how,
	// and why.
	NotRejected
	// OtherOpinion is a contradiction between the decision program and the plain evaluator
	// of the dialect.
	OtherOpinion
	// OtherDecision is another decision than the policies make, or the same decision by
	// another policy.
	OtherDecision
	// OtherLayer is a refusal by a filter of another layer.
	OtherLayer
	// OtherShadowRun is a shadow that ran, or did not, against the policies.
	OtherShadowRun
	// OtherShadow is another decision of the shadow than the policies make.
	OtherShadow
	// OtherFilters is a filter that ran, or said, something else than its gate, although
	// all filters together may have come to the right decision.
	OtherFilters
	// OtherShadows is the same of the shadows.
	OtherShadows
	// OtherAsked is an authorizer that was asked, or was not, against the policies.
	OtherAsked
	// OtherPath is a path that the upstream saw and the policies did not.
	OtherPath
	// OtherStatedShadow, OtherStatedBy and OtherStatedShadowBy are something else than
	// the case states of the shadow, of the policy that decided, and of the policy that
	// decided in the shadow.
	OtherStatedShadow
	OtherStatedBy
	OtherStatedShadowBy
	// OtherRoute, OtherBackend and OtherCause are another route or backend that took a request
	// through a sidecar, and another reason why it ended. OtherEnd is another end for its caller.
	// TooEarly is a bound that took effect before its time.
	OtherRoute
	OtherBackend
	OtherCause
	OtherEnd
	TooEarly
	// OtherStatedRoute, OtherStatedBackend and OtherStatedCause are something else than the case
	// states of them.
	OtherStatedRoute
	OtherStatedBackend
	OtherStatedCause
)

// The texts have what was expected first, and what was found second.
var texts = [...]string{
	Contradiction:       "%[2]s",
	OtherWant:           "the case wants %s, Envoy says %s",
	NotKeptOut:          "mTLS should keep the caller out (%s), Envoy says %s",
	NotRejected:         "the listener should %s, Envoy says %s",
	OtherOpinion:        "the oracle says %s, the plain evaluator %s: meshproof contradicts itself",
	OtherDecision:       "the policies say %s, Envoy says %s",
	OtherLayer:          "the refusal should come from an %s filter, Envoy refused on %s",
	OtherShadowRun:      "a shadow should run: %s, a shadow ran: %s",
	OtherShadow:         "the shadow should say %s, Envoy's says %s",
	OtherFilters:        "the gates should say (%s), Envoy's filters say (%s)",
	OtherShadows:        "the shadows should say (%s), Envoy's say (%s)",
	OtherAsked:          "an authorizer should be asked: %s, one was asked: %s",
	OtherPath:           "the upstream saw path %[2]q, judged was %[1]q",
	OtherStatedShadow:   "the case wants shadow %s, Envoy says %s",
	OtherStatedBy:       "the case wants it decided by %s, Envoy names %s",
	OtherStatedShadowBy: "the case wants the shadow decided by %s, Envoy names %s",
	OtherRoute:          "the route should be %s, Envoy took %s",
	OtherBackend:        "the request should reach %s, it reached %s",
	OtherCause:          "the request should be ended by %s, Envoy says %s",
	OtherEnd:            "the caller should get %s, it got %s",
	TooEarly:            "the bound should take effect after %s, Envoy counted %s",
	OtherStatedRoute:    "the case wants the route %s, Envoy took %s",
	OtherStatedBackend:  "the case wants the backend %s, it was %s",
	OtherStatedCause:    "the case wants the cause %s, Envoy says %s",
}

// Problem is one difference between what must become of a request and what became of it.
type Problem struct {
	Kind Kind
	// Expected and Found are what differs, in a few words each.
	Expected, Found string
}

// String returns a sentence without a full stop.
func (p Problem) String() string { return fmt.Sprintf(texts[p.Kind], p.Expected, p.Found) }

// Property is one thing that holds of each request of a kind: what must become of it, and whether
// the evidence shows that it did. [Authorization] is one; package routeverdict has another.
type Property[Place, Request, Expected, Stated, Evidence, Found any] struct {
	Expect func(Place, Request) Expected
	Judge  func(Expected, Stated, Evidence) Found
}

// Authorization is the property that the policies decide a request, and nothing else does
// where they are asked.
var Authorization = Property[Inbound, cases.Request, Expectation, Stated, evidence.Evidence, Judgement]{Expect: Inbound.Expect, Judge: Judge}
