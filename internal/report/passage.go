package report

import (
	"strings"

	"github.com/meshproof/meshproof/internal/requestline"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/script"
)

// Passage is the result of one request through the sidecar of a workload.
type Passage struct {
	From   string `json:"from"`
	To     string `json:"to"`
	Method string `json:"method,omitempty"`
	Path   string `json:"path,omitempty"`
	GRPC   string `json:"grpc,omitempty"`
	// Header has the other header lines, each as "name: value", with the authority as host.
	Header []string `json:"header,omitempty"`
	// Answer is what the application does; empty where it echoes at once.
	Answer string `json:"answer,omitempty"`
	Want   string `json:"want"`
	Passed bool   `json:"passed"`
	// Outcome is what the caller got, and Cause why.
	Outcome string `json:"outcome"`
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

// Asked is the number of requests of the case.
func (c Case) Asked() int { return len(c.Requests) + len(c.Passages) }

func buildPassage(p result.Passage) Passage {
	f, log := p.Finding, p.Evidence.Outbound
	out := Passage{
		From: p.From, To: p.To, Method: p.Method, Path: p.Path, GRPC: p.GRPC, Header: requestline.Lines(p.Authority, p.Headers),
		Want: string(p.Want), Passed: len(p.Problems) == 0, Outcome: p.Evidence.Answer.String(), Cause: f.Cause.String(),
		Route: f.Route, Backend: f.Backend, WantedMilliseconds: milliseconds(p.Outcome.At), Milliseconds: milliseconds(log.Duration),
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
	if f.Judged {
		out.Verdict = f.Verdict.String()
	}
	for _, problem := range p.Problems {
		out.Problems = append(out.Problems, problem.String())
	}
	return out
}

// lasting returns the result without what differs from run to run.
func (p Passage) lasting() Passage {
	p.Milliseconds, p.Tries, p.Problems = 0, 0, nil
	// The reason has the address of an endpoint, or the words of a version.
	p.Details, _, _ = strings.Cut(p.Details, "{")
	if len(p.Backends) > 1 {
		p.Backend = ""
	}
	return p
}

// text says what the request asks for, from the workload to the service.
func (p Passage) text() string {
	parts := []string{p.From, "to", p.To}
	for _, part := range []string{p.Method, p.Path, p.GRPC} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(append(parts, p.Header...), " ")
}
