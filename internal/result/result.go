// Package result has what became of a case and of its requests: data that a runner fills
// in, and that proofs, reports and commands read.
//
// It guarantees that a case passes only without any problem and any error. It starts no
// Envoy and imports no harness.
package result

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/internal/endpoint"
	"github.com/meshproof/meshproof/internal/exchange"
	"github.com/meshproof/meshproof/internal/requestline"
	"github.com/meshproof/meshproof/internal/routeverdict"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/internal/script"
	"github.com/meshproof/meshproof/internal/servername"
	"github.com/meshproof/meshproof/internal/terminal"
	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

// Case is what became of one case.
type Case struct {
	Case cases.Case
	// Err says why the case as a whole failed: its policies were refused, or were
	// not, a warning is missing, counters do not add up.
	Err error
	// Fault is true where Err says that Envoy or the machine failed, so that
	// nothing is proven either way.
	Fault bool
	// Skipped says why the case proves nothing here, and does not count; empty for a case
	// that was run. With Fault, Err says what kept the case from running. NotApplicable is
	// true where the case is not about this version or this compiler, so that nothing is
	// missing.
	Skipped       string
	NotApplicable bool
	// Requests has an entry for each request of the case, in order; none where the
	// case failed before any was sent.
	Requests []Request
	// RoutedRequests has an entry for each request through a sidecar, in order; none where the case
	// failed before any was sent.
	RoutedRequests []RoutedRequest
	// WantsOnly says why Envoy was held against nothing but what the case wants; empty where
	// the policies were read.
	WantsOnly string
	// Examination says what the filters of a foreign compiler come to; nil where meshproof's
	// own compiler made them.
	Examination *Examination
	// Doubts is the number of those of Examination.Unread that are about the Envoy alone, which
	// reads a regular expression otherwise than later releases.
	Doubts int
	// Drawn says which policies were drawn at random; nil for a case that was written.
	Drawn *Drawn
	// Counters is what the counters of each inbound moved by.
	Counters map[string]evidence.Counters
	// Rules is the same for each rule that decided on an inbound, by the name of the inbound
	// and the name of the rule. Envoy counts by rule on L7 alone.
	Rules map[string]map[string]evidence.Counters
	// Warnings are the warnings of lint and lowering, in order of their place.
	Warnings []policy.Warning
	// Notes explain figures that a reader may take for a mistake.
	Notes []string
	Took  time.Duration
}

// Examination is what came of reading a compiler's filters back. What it finds is in
// [Case.Err] too.
type Examination struct {
	// Classes are the classes of requests that the policies and the filters make together.
	// Asked is the number of requests that Envoy was asked for them.
	Classes, Asked int
	// Unread names the parts of the filters that nothing can be said of. Wrong names the
	// classes that the filters decide otherwise than the policies.
	Unread, Wrong []string
}

// OnlyDoubted reports whether all that failed is that this Envoy reads regular expressions of the
// filters otherwise than later releases: what was asked was decided as specified.
func (c Case) OnlyDoubted() bool {
	x := c.Examination
	return x != nil && c.Doubts > 0 && !c.Fault && len(c.Failures()) == c.Doubts && len(x.Unread) == c.Doubts
}

// Drawn are sets of policies that were drawn at random. The problems are in [Case.Err] too.
// Again is the number of answers to questions that were asked again, Others the number of them
// that were not like any answer before.
type Drawn struct {
	Seed            uint64
	Sets, Decisions int
	// ReadBack are further sets, whose filters were read back and decide as the policies do. Unread are those that
	// show nothing: no filters of theirs can be read back whole.
	ReadBack, Unread int
	Again, Others    int
	Problems         []string
}

// Request is what became of one request.
type Request struct {
	cases.Request
	verdict.Judgement
	Evidence evidence.Evidence
	// NearestRule is the rule that the request comes nearest to, where it did not go as wanted
	// and no rule matches.
	NearestRule string
	// KeptOut is why mTLS keeps the caller out, where the request did not go as wanted; empty where
	// the caller gets to the policies.
	KeptOut string
	// Explain is the command that shows the way to the decision of the policies, where the
	// request did not go as wanted; empty where there is none.
	Explain string
}

// RoutedRequest is what became of one request through a sidecar.
type RoutedRequest struct {
	casefile.RoutedRequest
	routeverdict.Judgement
	Expected routeverdict.Expectation
	Evidence exchange.Evidence
	// Tries is how often the request was sent, until the machine was in time.
	Tries int
}

// Text says where the request goes, what it asks for, and what the application does with it.
func (p RoutedRequest) Text() string {
	isHTTP := p.Expected.Outbound.Protocol.Layer() == policy.L7
	text := p.To + requestline.Clause(p.Method, p.Path, p.GRPC, isHTTP) + requestline.HeaderClause(p.Authority, p.Headers)
	if p.Answer != (script.Answer{}) {
		text += ", answered " + p.Answer.String()
	}
	return text
}

// Witness has the fields of a request that stands for its class, in the JSON of proofs and of
// differences.
type Witness struct {
	From    string         `json:"from"`
	Source  string         `json:"sourceIP,omitempty"`
	SNI     string         `json:"sni,omitempty"`
	Claims  map[string]any `json:"claims,omitempty"`
	Method  string         `json:"method,omitempty"`
	Path    string         `json:"path,omitempty"`
	Headers []string       `json:"headers,omitempty"`
}

// WitnessOf returns the fields of a request.
func WitnessOf(q cases.Request) Witness {
	return Witness{
		From: q.From.Name, Source: endpoint.Played(q.SourceIP, q.From.SourceIP), SNI: q.SNI, Claims: q.Token.Payload(),
		Method: q.Method, Path: q.Path, Headers: requestline.Lines(q.Authority, q.Headers),
	}
}

// DecidedWrong reports whether Envoy allowed what the policies deny, or the other way
// round. A decision by the wrong policy alone is not wrong in this sense.
func (q Request) DecidedWrong() bool {
	return q.Judged && (q.Finding.Form == evidence.Served) != (q.Decision.Effect == policy.Allow)
}

// Explain gives each request that did not go as wanted the command that explains it.
func (c Case) Explain(command func(Request) string) {
	for i := range c.Requests {
		if q := &c.Requests[i]; len(q.Problems) > 0 && c.WantsOnly == "" {
			q.Explain = command(*q)
		}
	}
}

// Passed reports whether the case went as wanted. A case that was skipped did not.
func (c Case) Passed() bool {
	if c.Err != nil || c.Skipped != "" {
		return false
	}
	for _, q := range c.Requests {
		if len(q.Problems) > 0 {
			return false
		}
	}
	return !slices.ContainsFunc(c.RoutedRequests, func(p RoutedRequest) bool { return len(p.Problems) > 0 })
}

// NotRun reports whether Envoy or the machine had failed before the case could run.
func (c Case) NotRun() bool { return c.Fault && c.Skipped != "" }

// Failed reports whether the case was run and did not go as wanted.
func (c Case) Failed() bool { return c.Skipped == "" && !c.Passed() }

// Failures returns all that went wrong, line by line: of the case as a whole first, then of
// each request behind its place.
func (c Case) Failures() []string {
	var out []string
	if c.Err != nil {
		out = strings.Split(c.Err.Error(), "\n")
	}
	for _, q := range c.Requests {
		for _, problem := range q.Problems {
			out = append(out, fmt.Sprintf("%s: %s", q.Place, problem))
		}
	}
	for _, p := range c.RoutedRequests {
		for _, problem := range p.Problems {
			out = append(out, fmt.Sprintf("%s: %s", p.Place, problem))
		}
	}
	return out
}

// WriteFailure prints why a case failed, with the evidence and the command that
// repeats the case.
func (c Case) WriteFailure(w io.Writer, paint terminal.Paint, again string) {
	fmt.Fprintf(w, "%s %s: %s\n", paint.Mark(false), c.Case.Place, terminal.Printable(c.Case.Name))
	if c.Err != nil {
		for line := range strings.Lines(c.Err.Error()) {
			fmt.Fprintf(w, "  %s\n", paint.Red(strings.TrimSpace(line)))
		}
	}
	for _, q := range c.Requests {
		if len(q.Problems) > 0 {
			c.WriteRequest(w, paint, q)
		}
	}
	for _, p := range c.RoutedRequests {
		if len(p.Problems) > 0 {
			p.Write(w, paint)
		}
	}
	fmt.Fprintf(w, "  again: %s\n\n", again)
}

// Write prints the problems of a request through a sidecar, and all its evidence.
func (p RoutedRequest) Write(w io.Writer, paint terminal.Paint) {
	fmt.Fprintf(w, "  %s: %s from %s\n", p.Place, terminal.Printable(p.Text()), terminal.Printable(p.From))
	for _, problem := range p.Problems {
		fmt.Fprintf(w, "    %s\n", paint.Red(problem.String()))
	}
	out := p.Evidence.Outbound
	fmt.Fprintf(w, "    caller    %s\n", p.Evidence.Answer)
	fmt.Fprintf(w, "    outbound  route %s, backend %s, status %d, flags %s, %s after %s, %d attempts\n",
		cmp.Or(out.Route, "none"), cmp.Or(out.Endpoint, "none"), out.Status, cmp.Or(strings.Join(out.Flags, ","), "none"), cmp.Or(out.Details, "no details"), out.Duration, out.Attempts)
	inbound := "nothing"
	if in := p.Evidence.Inbound; in != nil {
		inbound = in.Name + ": " + logText(in.Log)
	}
	fmt.Fprintf(w, "    inbound   %s\n", inbound)
	if a := p.Evidence.Arrival; a != nil && a.Timing != nil {
		fmt.Fprintf(w, "    upstream  %s behind the sidecar, sent %s, cut after %s, %s late; %d tries\n", a.Timing.Began.Sub(out.Began), a.Timing.Sent, a.Timing.Cut, a.Timing.Delay, p.Tries)
	}
	if c := p.Evidence.Counts; c != nil {
		var moved []string
		for bound, n := range c {
			moved = append(moved, fmt.Sprintf("%s %d", routing.Bound(bound), n))
		}
		fmt.Fprintf(w, "    counters  %s\n", strings.Join(moved, ", "))
	}
}

// WriteRequest prints the problems of one of the case's requests, and all its evidence.
func (c Case) WriteRequest(w io.Writer, p terminal.Paint, q Request) {
	fmt.Fprintf(w, "  %s: %s as %s\n", q.Place, terminal.Printable(q.Text()), terminal.Printable(q.From.Name))
	for _, problem := range q.ProblemTexts() {
		fmt.Fprintf(w, "    %s\n", p.Red(problem))
	}
	if q.Judged {
		fmt.Fprintf(w, "    policies  %s%s\n", q.Decision.Verdict, shadowText(q.Decision))
	}
	if q.KeptOut != "" {
		fmt.Fprintf(w, "    mtls      the handshake fails in this mesh: %s\n", terminal.Printable(q.KeptOut))
	}
	if q.NearestRule != "" {
		fmt.Fprintf(w, "    nearest   %s\n", terminal.Printable(q.NearestRule))
	}
	arrived := "nothing"
	if a := q.Evidence.Arrival; a != nil {
		arrived = fmt.Sprintf("%d bytes", a.Bytes)
		if line := strings.TrimSpace(a.Method + " " + a.Path); line != "" {
			arrived = line + ", " + arrived
		}
	}
	fmt.Fprintf(w, "    caller    %s\n", q.Evidence.Answer)
	fmt.Fprintf(w, "    upstream  %s\n", arrived)
	fmt.Fprintf(w, "    log       %s\n", logText(q.Evidence.Log))
	fmt.Fprintf(w, "    counters  %s (all requests to %s)\n", c.Counters[q.To], terminal.Printable(q.To))
	for _, rule := range slices.Sorted(maps.Keys(c.Rules[q.To])) {
		fmt.Fprintf(w, "              %s: %s\n", terminal.Printable(rule), c.Rules[q.To][rule])
	}
	if q.Explain != "" {
		fmt.Fprintf(w, "    explain   %s\n", q.Explain)
	}
}

// Text says where the request goes, and on L7 what it asks for.
func (q Request) Text() string {
	isHTTP := q.Evidence.Call.Protocol.Layer() == policy.L7
	return q.To + requestline.Clause(q.Method, q.Path, q.GRPC, isHTTP) + servername.Clause(q.SNI) + token.Clause(q.Token) + endpoint.Clause(q.SourceIP, q.From.SourceIP) + requestline.HeaderClause(q.Authority, q.Headers)
}

func shadowText(d policy.Decision) string {
	if !d.Shadowed {
		return ""
	}
	return "; shadow " + d.Shadow.String()
}

// logText is the entry of the access log without what the request itself says.
func logText(log xds.AccessLog) string {
	parts := []string{engineText("enforced", log.Enforced), engineText("shadow", log.Shadow)}
	if len(log.Filters) > 1 {
		for _, f := range log.Filters {
			parts = append(parts, fmt.Sprintf("filter %d on %s: %s, %s", f.Index, f.Layer, engineText("enforced", f.Enforced), engineText("shadow", f.Shadow)))
		}
	}
	for _, part := range []string{log.Details, log.Termination, log.TransportFailure} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "; ")
}

func engineText(name string, e xds.Engine) string {
	if !e.Ran {
		return name + " none"
	}
	return name + " " + e.Verdict.String()
}
