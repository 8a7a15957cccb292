package report

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"google.golang.org/grpc/codes"

	"github.com/meshproof/meshproof/internal/exchange"
	"github.com/meshproof/meshproof/internal/requestline"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/internal/script"
	"github.com/meshproof/meshproof/policy"
)

// RoutedRequest is the result of one request through the sidecar of a workload.
type RoutedRequest struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Protocol is what the outbound speaks, "" in results of an older meshproof.
	Protocol string `json:"protocol,omitempty"`
	Method   string `json:"method,omitempty"`
	Path     string `json:"path,omitempty"`
	GRPC     string `json:"grpc,omitempty"`
	// Header has the other header lines, each as "name: value", with the authority as host.
	Header []string `json:"header,omitempty"`
	// Answer is what the application does; empty where it echoes at once.
	Answer string `json:"answer,omitempty"`
	Want   string `json:"want"`
	Passed bool   `json:"passed"`
	// Outcome is what the caller got, Got the same in a word, and Cause why. Bytes is the length of the body; that of an answer
	// which is cut differs from run to run.
	Outcome string `json:"outcome"`
	Got     string `json:"got"`
	Bytes   int    `json:"bytes"`
	Cause   string `json:"cause"`
	// Route is the route that took the request, and Backends are the inbounds of which one takes
	// it by the policies. Backend is the inbound that did; of several it differs from run to run.
	Route    string   `json:"route,omitempty"`
	Backends []string `json:"backends,omitempty"`
	Backend  string   `json:"backend,omitempty"`
	// Limit is the time of the bound that ended the request, and By and Place are the policy and
	// the field that set it.
	Limit string `json:"limit,omitempty"`
	By    string `json:"by,omitempty"`
	Place string `json:"place,omitempty"`
	// Verdict is what the policies of the inbound decided; empty where they were not asked.
	Verdict string `json:"verdict,omitempty"`
	// Window is the time in which a bound must end the request; nil where no bound does.
	Window *Window `json:"windowMilliseconds,omitempty"`
	// WantedMilliseconds is when the request should end, and Milliseconds when it did by Envoy's
	// clock.
	WantedMilliseconds float64 `json:"wantedMilliseconds"`
	Milliseconds       float64 `json:"milliseconds"`
	// Details and Flags are the words of the outbound's access log. Attempts counts the times
	// that it sent the request on, and Tries those that the lab sent it, until the machine was
	// in time.
	Details  string   `json:"details,omitempty"`
	Flags    []string `json:"flags,omitempty"`
	Attempts int      `json:"attempts"`
	Tries    int      `json:"tries"`
	Problems []string `json:"problems,omitempty"`
}

// Window is a time from the start of a request, in milliseconds.
type Window struct {
	From float64 `json:"from"`
	// To is when the sentinel, a bound beside those of the mesh, ends the request; 0 for none.
	To float64 `json:"to,omitempty"`
}

// Asked is the number of requests of the case.
func (c Case) Asked() int { return len(c.Requests) + len(c.RoutedRequests) }

func buildRouted(p result.RoutedRequest) RoutedRequest {
	f, log := p.Finding, p.Evidence.Outbound
	out := RoutedRequest{
		From: p.From, To: p.To, Protocol: p.Expected.Outbound.Protocol.String(), Method: p.Method, Path: p.Path, GRPC: p.GRPC, Header: requestline.Lines(p.Authority, p.Headers),
		Want: string(p.Want), Passed: len(p.Problems) == 0, Outcome: outcomeOf(p.Evidence.Answer, p.Expected.Outbound.Protocol), Got: gotOf(p.Evidence.Answer, p.Expected.Outbound.Protocol), Bytes: p.Evidence.Answer.Bytes, Cause: f.Cause.String(),
		Route: f.Route, Backend: f.Backend, WantedMilliseconds: milliseconds(p.Outcome.Time), Milliseconds: milliseconds(log.Duration),
		Details: log.Details, Flags: log.Flags, Attempts: log.Attempts, Tries: p.Tries,
	}
	if p.Answer != (script.Answer{}) {
		out.Answer = p.Answer.String()
	}
	for _, o := range p.Expected.Outcomes {
		if o.Inbound != "" {
			out.Backends = append(out.Backends, o.Inbound)
		}
	}
	if bound, ok := p.Outcome.Cause.Bound(); ok {
		out.Limit, out.By, out.Place = bound.String()+" "+p.Outcome.Limit.Time.String(), p.Outcome.Limit.Origin, p.Outcome.Limit.Place
	}
	if from, ok := p.Outcome.Earliest(); ok {
		out.Window = &Window{milliseconds(from), milliseconds(p.Expected.Sentinel)}
	}
	if f.Judged {
		out.Verdict = f.Verdict.String()
	}
	for _, problem := range p.Problems {
		out.Problems = append(out.Problems, problem.String())
	}
	return out
}

// outcomeOf is the answer in a few words. How much of an answer comes before it is cut is a matter of
// time, and so is whether a connection over tcp is closed or reset.
func outcomeOf(a exchange.Answer, protocol policy.Protocol) string {
	switch isTCP := protocol == policy.TCP; {
	case a.End == exchange.Cut && !isTCP:
		return fmt.Sprintf("HTTP %d, %s", a.Status, a.End)
	case a.End == exchange.Complete || a.End == exchange.GaveUp || !isTCP:
		return a.String()
	}
	return "the connection ended"
}

// gotOf is the answer in a word.
func gotOf(a exchange.Answer, protocol policy.Protocol) string {
	switch {
	case a.Status == 0 || a.End != exchange.Complete:
		return outcomeOf(a, protocol)
	case a.GRPC != codes.OK:
		return a.GRPC.String()
	}
	return strconv.Itoa(a.Status)
}

// lasting returns the result without what differs from run to run.
func (p RoutedRequest) lasting() RoutedRequest {
	p.Protocol, p.Got, p.Bytes, p.Milliseconds, p.Tries, p.Problems, p.Window = "", "", 0, 0, 0, nil, nil
	// The reason has the address of an endpoint, or the words of a version.
	p.Details, _, _ = strings.Cut(p.Details, "{")
	if len(p.Backends) > 1 {
		p.Backend = ""
	}
	return p
}

// Decision is text such as "requestTimeout 200ms: 504, route r, backend b", without what
// differs from run to run.
func (p RoutedRequest) Decision() string {
	text := p.CauseText() + ": " + cmp.Or(p.Got, p.Outcome)
	if p.Route != "" {
		text += ", route " + p.Route
	}
	if p.Backend != "" && len(p.Backends) == 1 {
		text += ", backend " + p.Backend
	}
	return text
}

// CauseText is the cause, with the limit, or with what the policies of the inbound decided.
func (p RoutedRequest) CauseText() string {
	switch {
	case strings.HasPrefix(p.Limit, p.Cause+" "):
		return p.Limit
	case p.Cause == routing.Denied.String() && p.Verdict != "":
		return "denied: " + p.Verdict
	}
	return p.Cause
}

// Timing is the measured time, held against the window.
func (p RoutedRequest) Timing() string {
	text := Milliseconds(p.Milliseconds)
	if p.Window != nil {
		text += " of " + p.Window.String()
	}
	return text
}

// String is text such as "190 ms to 280 ms".
func (w Window) String() string {
	if w.To == 0 {
		return Milliseconds(w.From) + " or later"
	}
	return Milliseconds(w.From) + " to " + Milliseconds(w.To)
}

// Milliseconds is a time as text: a time below 10 ms with one digit behind the point.
func Milliseconds(ms float64) string {
	if ms < 10 {
		return strconv.FormatFloat(ms, 'f', 1, 64) + " ms"
	}
	return strconv.FormatFloat(ms, 'f', 0, 64) + " ms"
}
