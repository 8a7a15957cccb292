package routeverdict

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/meshproof/meshproof/internal/arrival"
	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/internal/exchange"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/internal/script"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
)

// Judgement is what became of a request through a sidecar, held against what must become of it.
type Judgement struct {
	Finding exchange.Finding
	// Outcome is the expected end at the backend that took the request.
	Outcome Outcome
	// Problems say what differs; none for a request that went as expected and stated.
	Problems []verdict.Problem
	// Delay says why the run proves nothing: the application, Envoy or the machine was late.
	// The request must be sent again. It is empty for a run that counts.
	Delay string
	// Mistimed says that nothing is wrong but the time of a bound at the backend of the finding: it took effect
	// too early, or not yet when the answer, the sentinel or the caller came first. A stall of Envoy's
	// event loop does that now and then. A bound with another time does it each time.
	Mistimed bool
}

// Judge holds evidence against what must become of a request and what the case states.
func Judge(x Expectation, p casefile.RoutedRequest, e exchange.Evidence) Judgement {
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
	if len(j.Problems) > 0 && j.isOfTime() {
		j.Delay = j.lateness(x, e)
		// With several backends, a request that is sent again may take one without the fault. Only
		// the same backend settles it, which has to be known.
		j.Mistimed = (len(x.Outcomes) == 1 || finding.Cluster != "") && (j.outlived(p) || j.isEarly(x) || j.isHasty() || j.isSentinel(e) || j.isSlowStart(e) ||
			!slices.ContainsFunc(j.Problems, func(p verdict.Problem) bool {
				// No policy decided where the bound took effect before the request came so far.
				return p.Kind != verdict.TooEarly && (p.Kind != verdict.OtherStatedBy || j.Finding.Judged)
			}))
	}
	return j
}

// isOfTime reports whether time alone may be the reason of the problems: no clock sends a request to another
// route or another backend, or lets another policy decide.
func (j *Judgement) isOfTime() bool {
	if v := j.Outcome.Verdict; v != nil && j.Finding.Judged && *v != j.Finding.Verdict {
		return false
	}
	return !slices.ContainsFunc(j.Problems, func(p verdict.Problem) bool {
		switch p.Kind {
		case verdict.OtherOpinion, verdict.OtherRoute, verdict.OtherStatedRoute, verdict.OtherBackend:
			return true
		case verdict.OtherStatedBackend:
			return j.Finding.Backend != ""
		case verdict.OtherStatedBy:
			return j.Finding.Judged
		default:
			return false
		}
	})
}

// outlived reports whether a request or a connection outlived the bound that should have ended it, or
// over tcp ended when its caller had left already.
func (j *Judgement) outlived(p casefile.RoutedRequest) bool {
	_, bounded := j.Outcome.Cause.Bound()
	a := j.Finding.Answer
	left := p.Sends.Keep > 0 && j.Finding.Cause == j.Outcome.Cause && a.Status == 0 && a.End == exchange.Complete && !a.Ended
	return bounded && (j.Finding.Cause == routing.Answered || left)
}

// isSentinel reports whether the bound beside that of the program ended a request that the latter should
// have ended, or whose application has no script to be late with.
func (j *Judgement) isSentinel(e exchange.Evidence) bool {
	_, bounded := j.Outcome.Cause.Bound()
	return j.Finding.Cause == routing.Sentinel && (bounded || e.Arrival == nil || e.Arrival.Timing == nil)
}

// isSlowStart reports whether the bound on the time to connect, or on that of the head of the request,
// ended a request that should have reached its backend. The handshakes and the writing of the caller, which
// a busy machine takes long for, are within these times.
func (j *Judgement) isSlowStart(e exchange.Evidence) bool {
	bound, ok := j.Finding.Cause.Bound()
	starts := bound == routing.RequestHeaders || bound == routing.Connection && j.Outcome.Cluster == j.Finding.Cluster
	return ok && starts && j.Finding.Cause != j.Outcome.Cause && e.Arrival == nil
}

// isEarly reports whether a bound that the request has ended it, although the request should have ended
// otherwise and before, and Envoy's own clock says that the time of the bound was not over. It does not matter
// whether the request had reached its application: one that was cut before it could answer has sent nothing,
// and its clock tells of no delay.
func (j *Judgement) isEarly(x Expectation) bool {
	bound, ok := j.Finding.Cause.Bound()
	limit := x.limits(j.Finding.Cluster)[bound].Time
	return ok && j.Finding.Cause != j.Outcome.Cause && j.Finding.Duration < limit-early
}

// isHasty reports whether the right bound ended the request, and by Envoy's own clock before its time. The request
// or the answer had not come so far, so that the end looks otherwise too.
func (j *Judgement) isHasty() bool {
	at, bounded := j.Outcome.Earliest()
	return bounded && j.Finding.Cause == j.Outcome.Cause && j.Finding.Duration < at
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

// outcomeFor returns the outcome at the backend of a finding. A request that came to no backend may be of several: then
// it is of one that has its cause, where there is one.
func (x Expectation) outcomeFor(f exchange.Finding) (found Outcome, ok bool) {
	for _, o := range x.Outcomes {
		if o.Inbound != f.Backend && f.Backend != "" || o.Cluster != f.Cluster && o.Cluster != "" && f.Cluster != "" {
			continue
		}
		if o.Cause == f.Cause {
			return o, true
		}
		if !ok {
			found, ok = o, true
		}
	}
	return found, ok
}

// compareEnd holds the finding against the outcome at the backend that took the request.
func (j *Judgement) compareEnd(x Expectation, e exchange.Evidence) {
	f := j.Finding
	// Envoy gives tcp and what no route takes no name.
	if x.Outbound.Protocol.Layer() == policy.L7 && f.Route != x.Decision.Route && f.Cause != routing.Bounded(routing.RequestHeaders) {
		j.add(verdict.OtherRoute, nameOf(x.Decision.Route), nameOf(f.Route))
	}
	o, ok := x.outcomeFor(f)
	if !ok {
		j.add(verdict.OtherBackend, strings.Join(x.backends(), " or "), nameOf(f.Backend))
		return
	}
	j.Outcome = o
	if f.Cause != o.Cause {
		j.add(verdict.OtherCause, withTime(o), f.Cause)
		return
	}
	if want, got := o.text(), answerText(f.Answer); want != got && !o.isEndOfTCP(f.Answer) {
		j.add(verdict.OtherEnd, want, got)
	}
	if at, bounded := o.Earliest(); bounded && f.Duration < at {
		j.add(verdict.TooEarly, o.Time, f.Duration)
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
	return answerText(exchange.Answer{End: o.End, Status: o.Status, GRPC: o.GRPC})
}

func answerText(a exchange.Answer) string {
	switch {
	case a.Status == 0:
		return a.End.String()
	case a.End != exchange.Complete:
		return fmt.Sprintf("%d, %s", a.Status, a.End)
	case a.GRPC != codes.OK:
		return fmt.Sprintf("gRPC %s", a.GRPC)
	default:
		return fmt.Sprint(a.Status)
	}
}

// isEndOfTCP reports whether an answer over tcp is the expected one: how a connection ends depends
// on who has unread bytes, so that a reset is as good as a close.
func (o Outcome) isEndOfTCP(a exchange.Answer) bool {
	if o.Status != 0 || a.Status != 0 {
		return false
	}
	ends := func(e exchange.End) bool { return e == exchange.Closed || e == exchange.Reset }
	switch {
	case ends(o.End):
		return ends(a.End) || a.End == exchange.Complete && a.Ended && a.Bytes == 0
	case o.Cause == routing.Bounded(routing.Idle):
		return a.Ended || a.End == exchange.Cut || ends(a.End)
	default:
		return false
	}
}

// compareStated holds the finding against what the case states.
func (j *Judgement) compareStated(p casefile.RoutedRequest, protocol policy.Protocol) {
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
func meets(want casefile.End, a exchange.Answer, protocol policy.Protocol) bool {
	if code, ok := want.Status(); ok {
		return a.Status == code && a.End == exchange.Complete && a.GRPC == codes.OK
	}
	if code, ok := want.GRPC(); ok {
		return protocol == policy.GRPC && a.End == exchange.Complete && a.Status == 200 && a.GRPC == code
	}
	switch want {
	case casefile.Allow:
		return a.End == exchange.Complete && (protocol == policy.TCP && a.Bytes > 0 && !a.Ended || a.Status == 200 && a.GRPC == codes.OK)
	case casefile.Cut:
		return a.End == exchange.Cut
	case casefile.Reset:
		// Over tcp it depends on the bytes under way which of the two the caller sees.
		return a.End == exchange.Reset || protocol == policy.TCP && a.End == exchange.Closed
	default:
		return a.End == exchange.Closed || protocol == policy.TCP && a.End == exchange.Complete && a.Ended
	}
}

// lateness says why a run proves nothing, and "" where it counts. The application's own clock tells:
// it was behind its script, it had sent in time what came too late through the proxies, or the
// request reached it too late for an answer that was due.
func (j *Judgement) lateness(x Expectation, e exchange.Evidence) string {
	f := j.Finding
	limits := x.limits(f.Cluster)
	if e.Request.Keep > 0 {
		if more := e.Counted.Sub(e.Outbound.Began.Add(f.Duration)) - e.Request.Keep; more > slack(limits) {
			return fmt.Sprintf("the counters were read %s after the caller should have left its connection", more)
		}
	}
	bound, ok := f.Cause.Bound()
	if !ok && f.Cause != routing.Sentinel {
		return ""
	}
	if e.Arrival == nil || e.Arrival.Timing == nil {
		// A bound took effect at its time, and the application had no script to be late with.
		onStream := bound == routing.Request || bound == routing.StreamIdle || bound == routing.MaxStream || bound == routing.Idle
		if limit := limits[bound].Time; ok && onStream && limit > 0 && f.Duration >= limit-early {
			return fmt.Sprintf("no answer came through the proxies within %s, and the application waited with none", f.Duration)
		}
		return ""
	}
	t := e.Arrival.Timing
	allowed := slack(limits)
	idle := ok && (bound == routing.StreamIdle || bound == routing.Idle)
	switch delay := t.Began.Sub(e.Outbound.Began) - e.Request.HeadPause - e.Request.BodyPause; {
	case t.Delay > allowed:
		return fmt.Sprintf("the application was %s late by its own clock", t.Delay)
	case delay > allowed && !isSilent(e.Request, f.Duration):
		return fmt.Sprintf("the request reached the application after %s", delay)
	case !begun(f.Answer) && len(t.Sent) > 0 && t.Sent[0] < f.Duration/2:
		return fmt.Sprintf("the application began its answer after %s, and Envoy ended the request after %s without it", t.Sent[0], f.Duration)
	case idle && len(t.Sent) > 0 && longestSilence(t) < limits[bound].Time-early:
		return fmt.Sprintf("the application was silent for %s at most, and Envoy ended the request after %s without a byte", longestSilence(t), limits[bound].Time)
	case t.Cut == 0 && len(t.Sent) > 0 && t.Sent[len(t.Sent)-1]+max(0, delay) < f.Duration:
		return fmt.Sprintf("the application had sent its answer after %s, and Envoy still ended the request after %s", t.Sent[len(t.Sent)-1], f.Duration)
	}
	return ""
}

// isSilent reports whether the application had nothing to do before a time since the caller began, had the request
// reached it at once. A request that reaches it later ends no other way.
func isSilent(r exchange.Request, until time.Duration) bool {
	never := r.Answer.Parts == 0 && r.Answer.End == script.Stops
	return never || r.HeadPause+r.BodyPause+r.Answer.After >= until
}

// begun reports whether an answer is one of the application.
func begun(a exchange.Answer) bool { return a.Status <= 200 && a.GRPC == codes.OK }

// longestSilence is the longest time in which the application sent nothing, until it was cut.
func longestSilence(t *arrival.Timing) (longest time.Duration) {
	last := time.Duration(0)
	for _, at := range append(slices.Clone(t.Sent), t.Cut) {
		longest, last = max(longest, at-last), max(last, at)
	}
	return longest
}

// slack is how late the application may be: the outcome is not decided by so much.
func slack(limits routing.Limits) time.Duration {
	least := time.Second
	for _, limit := range limits {
		if limit.Time > 0 {
			least = min(least, limit.Time)
		}
	}
	return least / 5
}

// Property is that each request through a sidecar takes the route and the backend of the
// program, and ends why and as it says.
var Property = verdict.Property[Sidecar, casefile.RoutedRequest, Expectation, casefile.RoutedRequest, exchange.Evidence, Judgement]{Expect: Sidecar.Expect, Judge: Judge}
