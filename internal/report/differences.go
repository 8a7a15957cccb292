package report

import (
	"strconv"
	"strings"

	"github.com/meshproof/meshproof/internal/requestline"
	"github.com/meshproof/meshproof/internal/servername"
	"github.com/meshproof/meshproof/internal/token"
)

// Difference is a case whose status is not the same in all runs of a matrix, or a request
// whose decision is not.
type Difference struct {
	Case  string `json:"case"`
	Story string `json:"story"`
	Place string `json:"place"`
	// Request names inbound, request and caller. It is "" for the case as a whole.
	Request string `json:"request,omitempty"`
	// Values has the value in each run, such as "deny by default" or "skipped: it holds
	// from 1.39.3 only". It is "" for a run without the case or the request.
	Values []string `json:"values"`
}

// Differences returns the differences between runs, case by case, in the order of the runs. A
// case differs if it passed in one run and did not pass in another. A request differs in its
// outcome, in the policy that decided, or in the shadow. If a run lacks a case, or asked
// none of its requests, the row of the case says so, and the requests are compared between
// the other runs.
func Differences(runs []Run) []Difference {
	type row struct {
		Case
		// cases has the case of each run, nil where the run has none.
		cases []*Case
	}
	var rows []*row
	byName := map[string]*row{}
	for i, r := range runs {
		for j := range r.Cases {
			c := &r.Cases[j]
			at := byName[c.Case]
			if at == nil {
				at = &row{Case: *c, cases: make([]*Case, len(runs))}
				byName[c.Case] = at
				rows = append(rows, at)
			}
			at.cases[i] = c
		}
	}
	var out []Difference
	for _, at := range rows {
		cell := Difference{Case: at.Case.Case, Story: at.Story, Place: at.Place}
		if values, differ := statuses(at.cases); differ {
			cell.Values = values
			out = append(out, cell)
		}
		for _, d := range decisions(at.cases) {
			cell.Request, cell.Values = d.Request, d.Values
			out = append(out, cell)
		}
	}
	return out
}

// statuses returns the status of a case in each run, and whether the statuses differ. The
// reasons do not count, because they name the version.
func statuses(in []*Case) (values []string, differ bool) {
	values = make([]string, len(in))
	kinds := map[string]bool{}
	for i, c := range in {
		if c == nil {
			kinds[""] = true
			continue
		}
		kinds[c.Status()] = true
		values[i] = c.statusText()
	}
	return values, len(kinds) > 1
}

// decisions returns the requests of a case with different decisions.
func decisions(in []*Case) []Difference {
	var order []Asking
	at := map[Asking]*Difference{}
	for i, c := range in {
		if c == nil {
			continue
		}
		decided := c.Decisions()
		for j, a := range Askings(*c) {
			if at[a] == nil {
				at[a] = &Difference{Request: a.String(), Values: make([]string, len(in))}
				order = append(order, a)
			}
			at[a].Values[i] = decided[j]
		}
	}
	var out []Difference
	for _, a := range order {
		kinds := map[string]bool{}
		for i, c := range in {
			if c != nil && c.Asked() > 0 {
				kinds[at[a].Values[i]] = true
			}
		}
		if len(kinds) > 1 {
			out = append(out, *at[a])
		}
	}
	return out
}

// The statuses of a case that proves something.
const (
	passed = "passed"
	failed = "failed"
)

// Status is the status of a case, in one or two words.
func (c Case) Status() string {
	switch {
	case c.NotApplicable:
		return "not applicable"
	case c.Skipped != "":
		return "skipped"
	case c.Passed:
		return passed
	case c.Fault:
		return "not proven"
	default:
		return failed
	}
}

// statusText is the status with the reason.
func (c Case) statusText() string {
	reason := c.Skipped
	if c.Failed() {
		reason = c.Reason()
	}
	if reason == "" {
		return c.Status()
	}
	return c.Status() + ": " + reason
}

// Decision is text such as "allow by default; shadow deny by audit".
func (q Request) Decision() string {
	text := decisionBy(q.Outcome, q.By)
	if q.Shadow != "" && q.Shadow != "none" {
		text += "; shadow " + decisionBy(q.Shadow, q.ShadowBy)
	}
	return text
}

func decisionBy(effect, policy string) string {
	if policy == "" {
		return effect
	}
	return effect + " by " + policy
}

// Decisions returns the decision of each of [Askings].
func (c Case) Decisions() []string {
	var out []string
	for _, q := range c.Requests {
		out = append(out, q.Decision())
	}
	for _, p := range c.RoutedRequests {
		out = append(out, p.Decision())
	}
	return out
}

// Asking identifies a request of a case, in all runs.
type Asking struct {
	from, to, method, path, grpc, sni, token, source, header, answer string
	// routed tells a request through a sidecar, and nth counts requests that are equal otherwise.
	routed bool
	nth    int
}

// Askings returns the Asking of each request of a case, and then those of the requests through
// sidecars.
func Askings(c Case) []Asking {
	var out []Asking
	for _, q := range c.Requests {
		out = append(out, Asking{from: q.From, to: q.To, method: q.Method, path: q.Path, grpc: q.GRPC, sni: q.SNI, token: q.Token, source: q.Source, header: strings.Join(q.Header, ", ")})
	}
	for _, p := range c.RoutedRequests {
		out = append(out, Asking{from: p.From, to: p.To, method: p.Method, path: p.Path, grpc: p.GRPC, header: strings.Join(p.Header, ", "), answer: p.Answer, routed: true})
	}
	alike := map[Asking]int{}
	for i, a := range out {
		alike[a]++
		out[i].nth = alike[a]
	}
	return out
}

// String names inbound, request and caller.
func (a Asking) String() string {
	text := a.to + requestline.Clause(a.method, a.path, a.grpc, a.method != "" || a.path != "") + " as " + a.from + servername.Clause(a.sni) + token.WithText(a.token) + FromAddress(a.source)
	if a.header != "" {
		text += " with " + a.header
	}
	if a.answer != "" {
		text += ", answered " + a.answer
	}
	if a.nth > 1 {
		text += " (" + strconv.Itoa(a.nth) + ")"
	}
	return text
}

// FromAddress is the text for the address that a caller plays, "" for its own.
func FromAddress(address string) string {
	if address == "" {
		return ""
	}
	return " from " + address
}
