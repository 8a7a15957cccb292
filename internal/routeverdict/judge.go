package routeverdict

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/internal/passage"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
)

// Judgement is what became of a request through a sidecar, held against what must become of it.
type Judgement struct {
	Finding passage.Finding
	// Outcome is the expected end at the backend that took the request.
	Outcome Outcome
	// Problems say what differs; none for a request that went as expected and stated.
	Problems []verdict.Problem
	// Late says why the run proves nothing: the application, Envoy or the machine was late.
	// The request must be sent again. It is empty for a run that counts.
	Late string
	// Mistimed says that nothing is wrong but the time of a bound: it took effect too early, or
	// not yet on a connection that was kept for it. A stall of Envoy's event loop does that now
	// and then. A bound with another time does it each time.
	Mistimed bool
}

// Judge holds evidence against what must become of a request and what the case states.
func Judge(x Expectation, p casefile.Passage, e passage.Evidence) Judgement {
	finding, err := e.Find()
	j := Judgement{Finding: finding}
	if x.Unclear != nil {
		err = x.Unclear
	}
	if err != nil {
		j.add(verdict.Contradiction, nil, err)
		return j
	}
	j.compareOpinions(x)
	j.compareEnd(x, e)
	j.compareStated(p, x.Outbound.Protocol)
	if len(j.Problems) > 0 {
		j.Late = late(x, finding, e)
		j.Mistimed = j.isKept(p) || !slices.ContainsFunc(j.Problems, func(p verdict.Problem) bool { return p.Kind != verdict.TooEarly })
	}
	return j
}

// isKept reports whether a connection outlived the bound that should have ended it.
func (j *Judgement) isKept(p casefile.Passage) bool {
	_, bounded := j.Outcome.Cause.Bound()
	return p.Sends.Keep > 0 && bounded && j.Finding.Cause == routing.Answered
}

func (j *Judgement) add(kind verdict.Kind, expected, found any) {
	j.Problems = append(j.Problems, verdict.Problem{Kind: kind, Expected: fmt.Sprint(expected), Found: fmt.Sprint(found)})
}

// compareOpinions holds the program against the plain evaluator.
func (j *Judgement) compareOpinions(x Expectation) {
	first, second := decisionText(x.Decision, x.Outbound.Protocol), decisionText(x.Second, x.Outbound.Protocol)
	if first != second {
		j.add(verdict.OtherOpinion, first, second)
	}
}

// decisionText is a decision without the bounds that the protocol has elsewhere: over HTTP a
// cluster has the idle time.
func decisionText(d routing.Decision, protocol policy.Protocol) string {
	var b strings.Builder
	fmt.Fprintf(&b, "route %s", nameOf(d.Route))
	for _, backend := range d.Backends {
		fmt.Fprintf(&b, ", %d to %s", backend.Weight, nameOf(backend.Cluster))
	}
	for bound, limit := range d.Limits {
		if bound := routing.Bound(bound); limit.Time != 0 && bound.NeedsHTTP() == (protocol != policy.TCP) {
			fmt.Fprintf(&b, ", %s %s", bound, limit.Time)
		}
	}
	return b.String()
}

func nameOf(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

// compareEnd holds the finding against the outcome at the backend that took the request.
func (j *Judgement) compareEnd(x Expectation, e passage.Evidence) {
	f := j.Finding
	// Envoy gives tcp and what no route takes no name.
	if x.Outbound.Protocol.Layer() == policy.L7 && f.Route != x.Decision.Route && f.Cause != routing.Bounded(routing.RequestHeaders) {
		j.add(verdict.OtherRoute, nameOf(x.Decision.Route), nameOf(f.Route))
	}
	i := slices.IndexFunc(x.Outcomes, func(o Outcome) bool {
		return (o.Inbound == f.Backend || f.Backend == "") && (o.Cluster == f.Cluster || o.Cluster == "" || f.Cluster == "")
	})
	if i < 0 {
		j.add(verdict.OtherBackend, strings.Join(x.backends(), " or "), nameOf(f.Backend))
		return
	}
	o := x.Outcomes[i]
	j.Outcome = o
	if f.Cause != o.Cause {
		j.add(verdict.OtherCause, withTime(o), f.Cause)
		return
	}
	if want, got := o.text(), answerText(f.Answer); want != got && !o.isEndOfTCP(f.Answer) {
		j.add(verdict.OtherEnd, want, got)
	}
	if _, bounded := o.Cause.Bound(); bounded && o.At > early && f.Duration < o.At-early && o.Status != 200 {
		j.add(verdict.TooEarly, o.At, f.Duration)
	}
	if o.Verdict != nil && f.Judged && *o.Verdict != f.Verdict {
		j.add(verdict.OtherDecision, *o.Verdict, f.Verdict)
	}
	if o.Verdict != nil && e.Inbound != nil && !f.Judged {
		j.add(verdict.OtherDecision, *o.Verdict, "nothing of a policy")
	}
}

// withTime names the cause, with its limit and where that comes from.
func withTime(o Outcome) string {
	if _, ok := o.Cause.Bound(); !ok {
		return o.Cause.String()
	}
	return fmt.Sprintf("%s of %s", o.Cause, o.Limit)
}

// text and answerText are what a caller gets, in the same words.
func (o Outcome) text() string {
	return answerText(passage.Answer{End: o.End, Status: o.Status, GRPC: o.GRPC})
}

func answerText(a passage.Answer) string {
	switch {
	case a.Status == 0:
		return a.End.String()
	case a.End != passage.Whole:
		return fmt.Sprintf("%d, %s", a.Status, a.End)
	case a.GRPC != codes.OK:
		return fmt.Sprintf("gRPC %s", a.GRPC)
	default:
		return fmt.Sprint(a.Status)
	}
}

// isEndOfTCP reports whether an answer over tcp is the expected one: how a connection ends depends
// on who has unread bytes, so that a reset is as good as a close.
func (o Outcome) isEndOfTCP(a passage.Answer) bool {
	if o.Status != 0 || a.Status != 0 {
		return false
	}
	ends := func(e passage.End) bool { return e == passage.Closed || e == passage.Reset }
	switch {
	case ends(o.End):
		return ends(a.End) || a.End == passage.Whole && a.Ended && a.Bytes == 0
	case o.Cause == routing.Bounded(routing.Idle):
		return a.Ended || a.End == passage.Cut || ends(a.End)
	default:
		return false
	}
}

// compareStated holds the finding against what the case states.
func (j *Judgement) compareStated(p casefile.Passage, protocol policy.Protocol) {
	f := j.Finding
	if p.Want != "" && !meets(p.Want, f.Answer, protocol) {
		got := answerText(f.Answer)
		if f.Answer.Ended {
			got += ", and closed behind it"
		}
		j.add(verdict.OtherWant, p.Want, fmt.Sprintf("%s (%s)", got, f.Cause))
	}
	if p.Route != nil && !routeMeets(*p.Route, f.Route) {
		j.add(verdict.OtherStatedRoute, nameOf(*p.Route), nameOf(f.Route))
	}
	if p.Backends != nil && !slices.Contains(p.Backends, f.Backend) {
		j.add(verdict.OtherStatedBackend, strings.Join(p.Backends, " or "), nameOf(f.Backend))
	}
	if p.Cause != nil && *p.Cause != f.Cause {
		j.add(verdict.OtherStatedCause, *p.Cause, f.Cause)
	}
	if p.By != nil && *p.By != f.Verdict.Origin {
		j.add(verdict.OtherStatedBy, *p.By, nameOf(f.Verdict.Origin))
	}
}

// meets reports whether an answer is what the case wants.
func meets(want casefile.End, a passage.Answer, protocol policy.Protocol) bool {
	if code, ok := want.Status(); ok {
		return a.Status == code && a.End == passage.Whole && a.GRPC == codes.OK
	}
	if code, ok := want.GRPC(); ok {
		return protocol == policy.GRPC && a.End == passage.Whole && a.Status == 200 && a.GRPC == code
	}
	switch want {
	case casefile.Allow:
		return a.End == passage.Whole && (protocol == policy.TCP && a.Bytes > 0 && !a.Ended || a.Status == 200 && a.GRPC == codes.OK)
	case casefile.Cut:
		return a.End == passage.Cut
	case casefile.Reset:
		// Over tcp it depends on the bytes under way which of the two the caller sees.
		return a.End == passage.Reset || protocol == policy.TCP && a.End == passage.Closed
	default:
		return a.End == passage.Closed || protocol == policy.TCP && a.End == passage.Whole && a.Ended
	}
}

// late says why a run proves nothing, and "" where it counts. The application's own clock tells:
// it was behind its script, it had sent in time what came too late through the proxies, or the
// request reached it too late.
func late(x Expectation, f passage.Finding, e passage.Evidence) string {
	bound, ok := f.Cause.Bound()
	if !ok && f.Cause != routing.Sentinel {
		return ""
	}
	if e.Arrival == nil || e.Arrival.Timing == nil {
		// A bound took effect at its time, and the application had no script to be late with.
		onStream := bound == routing.Request || bound == routing.StreamIdle || bound == routing.MaxStream
		if limit := x.Decision.Limits[bound].Time; ok && onStream && limit > 0 && f.Duration >= limit-early {
			return fmt.Sprintf("no answer came through the proxies within %s, and the application waited with none", f.Duration)
		}
		return ""
	}
	t := e.Arrival.Timing
	allowed := slack(x)
	switch delay := t.Began.Sub(e.Outbound.Began) - e.Request.HeadPause - e.Request.BodyPause; {
	case t.Late > allowed:
		return fmt.Sprintf("the application was %s late by its own clock", t.Late)
	case delay > allowed:
		return fmt.Sprintf("the request reached the application after %s", delay)
	case t.Cut == 0 && len(t.Sent) > 0:
		return fmt.Sprintf("the application had sent its answer after %s, and Envoy still ended the request after %s", t.Sent[len(t.Sent)-1], f.Duration)
	}
	return ""
}

// slack is how late the application may be: the outcome is not decided by so much.
func slack(x Expectation) time.Duration {
	least := time.Second
	for _, limit := range x.Decision.Limits {
		if limit.Time > 0 {
			least = min(least, limit.Time)
		}
	}
	return least / 5
}

// Property is that each request through a sidecar takes the route and the backend of the
// program, and ends why and as it says.
var Property = verdict.Property[Sidecar, casefile.Passage, Expectation, casefile.Passage, passage.Evidence, Judgement]{Expect: Sidecar.Expect, Judge: Judge}
