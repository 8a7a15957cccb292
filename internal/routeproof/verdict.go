package routeproof

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/internal/terminal"
	"github.com/meshproof/meshproof/policy/classes"
)

// Verdict says how many classes of the requests of a workload Envoy treated as specified.
type Verdict struct {
	*Proof
	Result result.Case
	// Classes has the classes of each outbound.
	Classes [][]Class
}

// Class is one class of requests, and what became of its requests.
type Class struct {
	// Text says which requests are of the class.
	Text     string
	Decision routing.Decision
	// Requests counts the requests of the class that were sent. The witness is the first.
	Requests int
	Witness  result.RoutedRequest
	// Proven is false where one of them was not treated as specified.
	Proven bool
}

// Judge draws the verdict from what became of the proof's case.
func (p *Proof) Judge(r result.Case) Verdict {
	v := Verdict{Proof: p, Result: r, Classes: make([][]Class, len(p.Outbounds))}
	for i, o := range p.Outbounds {
		for _, c := range o.Cover.Classes {
			v.Classes[i] = append(v.Classes[i], Class{Text: c.String(), Decision: o.Decide(c.Witness)})
		}
	}
	for n, q := range r.RoutedRequests {
		from := p.asked[n]
		if from.class == classes.Unclassed {
			continue
		}
		c := &v.Classes[from.outbound][from.class]
		if c.Requests++; c.Requests == 1 {
			c.Witness, c.Proven = q, true
		}
		c.Proven = c.Proven && len(q.Problems) == 0
	}
	return v
}

// Wrong are the requests that were not treated as specified.
func (v Verdict) Wrong() []result.RoutedRequest {
	return slices.DeleteFunc(slices.Clone(v.Result.RoutedRequests), func(q result.RoutedRequest) bool { return len(q.Problems) == 0 })
}

// counts returns how many classes were proven, and how many there are.
func (v Verdict) counts() (proven, of int) {
	for _, all := range v.Classes {
		for _, c := range all {
			of++
			if c.Proven && v.Result.Err == nil {
				proven++
			}
		}
	}
	return proven, of
}

// sampled says of which requests the covers have examples only.
func (v Verdict) sampled() []string {
	var out []string
	for _, o := range v.Outbounds {
		out = append(out, o.Cover.Sampled...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Holds reports whether every class was asked for, and treated as specified.
func (v Verdict) Holds() bool {
	proven, of := v.counts()
	return v.Result.Err == nil && len(v.Wrong()) == 0 && proven == of && len(v.sampled()) == 0
}

// Lacks says what keeps the verdict from holding, and is wrong in no request of its case.
func (v Verdict) Lacks() (out []error) {
	if sampled := v.sampled(); len(sampled) > 0 {
		out = append(out, fmt.Errorf("not all requests can be asked: %s", strings.Join(sampled, "; ")))
	}
	unasked := 0
	for _, all := range v.Classes {
		for _, c := range all {
			if c.Requests == 0 {
				unasked++
			}
		}
	}
	if unasked > 0 && v.Result.Err == nil {
		out = append(out, fmt.Errorf("%s of requests not asked for", terminal.Plural(unasked, "class", "classes")))
	}
	return out
}

// Report is what became of several proofs.
type Report struct {
	Envoy    string
	Verdicts []Verdict
	// Warnings are about what has no effect on any workload.
	Warnings []string
	// Unasked are the policies that are asked on no workload, with the reason.
	Unasked []string
	// Truncated says that there are more workloads to make for policies than were made.
	Truncated bool
	// Strict says that a warning is a failure.
	Strict bool
}

// Holds reports whether everything was asked, and treated as specified.
func (r *Report) Holds() bool {
	return len(r.Unasked) == 0 && !r.Truncated && !(r.Strict && len(r.Warnings) > 0) && !slices.ContainsFunc(r.Verdicts, func(v Verdict) bool { return !v.Holds() })
}

// Fault reports whether Envoy or the machine failed.
func (r *Report) Fault() bool {
	return slices.ContainsFunc(r.Verdicts, func(v Verdict) bool { return v.Result.Fault })
}

// Counts returns how many classes were proven, how many there are, and whether no cover is sampled.
func (r *Report) Counts() (proven, of int, complete bool) {
	complete = true
	for _, v := range r.Verdicts {
		some, all := v.counts()
		proven, of, complete = proven+some, of+all, complete && len(v.sampled()) == 0
	}
	return proven, of, complete
}

// Notes say which workloads send alike, how far the classes go, and which limits no request waits for.
func (v Verdict) Notes() []string {
	var out []string
	if len(v.Senders) > 1 {
		out = append(out, "the same sidecar: "+strings.Join(v.Senders, ", "))
	}
	for _, o := range v.Outbounds {
		out = append(out, fmt.Sprintf("%s: %s", o.Service, o.Cover))
	}
	for _, u := range v.NotWaited {
		out = append(out, "not waited for, as "+u.String())
	}
	return out
}

// Sentence says in one what was proven.
func (r *Report) Sentence() string {
	waited, limits, cover := 0, 0, "cover complete"
	for _, v := range r.Verdicts {
		waited, limits = waited+v.Waited, limits+v.Waited+len(v.NotWaited)
	}
	proven, of, complete := r.Counts()
	if !complete {
		cover = "cover sampled"
	}
	if of == 0 {
		return "no request to an outbound was asked for: " + terminal.Plural(len(r.Unasked), "policy", "policies") + " not asked, see above"
	}
	text := fmt.Sprintf("%d of %s of outbound requests took the route and the backend as specified on Envoy %s; %s", proven, terminal.Plural(of, "class", "classes"), r.Envoy, cover)
	if limits > 0 {
		text += fmt.Sprintf("; %d of %s waited for", waited, terminal.Plural(limits, "time limit", "time limits"))
	}
	if n := len(r.Unasked); n > 0 {
		text += "; " + terminal.Plural(n, "policy", "policies") + " not asked, see above"
	}
	if r.Truncated {
		text += "; sampled: not each two policies that may select one workload were asked together, there are too many"
	}
	if n := len(r.Warnings); r.Strict && n > 0 {
		text += "; " + terminal.Count(n, "warning") + ", see above"
	}
	return text
}

// mostWrong is how many wrong requests of a workload are printed. They tend to have one cause.
const mostWrong = 5

// WriteText prints the classes of each outbound, the first wrong requests, and a sentence.
func (r *Report) WriteText(w io.Writer, p terminal.Paint) {
	for _, v := range r.Verdicts {
		v.writeText(w, p)
	}
	for _, text := range r.Warnings {
		fmt.Fprintf(w, "%s %s\n", p.Yellow("warning:"), terminal.Printable(text))
	}
	for _, text := range r.Unasked {
		fmt.Fprintf(w, "%s not asked: %s\n", p.Mark(false), terminal.Printable(text))
	}
	fmt.Fprintf(w, "%s %s\n", p.Mark(r.Holds()), r.Sentence())
}

func (v Verdict) writeText(w io.Writer, p terminal.Paint) {
	fmt.Fprintf(w, "%s requests of %s\n", p.Mark(v.Holds()), terminal.Printable(strings.Join(v.Senders, ", ")))
	if v.Result.Err != nil {
		for line := range strings.Lines(v.Result.Err.Error()) {
			fmt.Fprintf(w, "  %s\n", p.Red(strings.TrimSpace(line)))
		}
	}
	for i, o := range v.Outbounds {
		fmt.Fprintf(w, "  to %s (%s): %s\n", o.Service, o.Protocol, o.Cover)
		table := terminal.Table{{"route", "backends", "requests"}}
		for _, c := range v.Classes[i] {
			table = append(table, []string{c.route(), c.backends(), terminal.Printable(c.Text)})
		}
		for n, line := range table.Lines() {
			sign := " "
			if n > 0 {
				sign = "–"
				if c := v.Classes[i][n-1]; c.Requests > 0 {
					sign = p.Mark(c.Proven)
				}
			}
			fmt.Fprintf(w, "    %s %s\n", sign, line)
		}
	}
	if n := v.Waited + len(v.NotWaited); n > 0 {
		fmt.Fprintf(w, "  limits: %d of %d waited for\n", v.Waited, n)
	}
	for _, text := range joined(v.NotWaited) {
		fmt.Fprintf(w, "    not waited for, as %s\n", terminal.Printable(text))
	}
	wrong := v.Wrong()
	for _, q := range wrong[:min(len(wrong), mostWrong)] {
		q.Write(w, p)
	}
	if more := len(wrong) - mostWrong; more > 0 {
		fmt.Fprintf(w, "  and %s more: see --output json\n", terminal.Count(more, "request"))
	}
	fmt.Fprintln(w)
}

func (c Class) route() string {
	if c.Decision.Route == "" {
		return "none: 404"
	}
	return c.Decision.Route
}

func (c Class) backends() string {
	var parts []string
	for _, b := range c.Decision.Backends {
		name := b.Cluster
		if name == "" {
			name = "none, 500"
		}
		parts = append(parts, fmt.Sprintf("%d × %s", b.Weight, name))
	}
	if parts == nil {
		return "none exists"
	}
	return strings.Join(parts, ", ")
}

// JSON is the JSON form of a [Report].
type JSON struct {
	Sentence string       `json:"sentence"`
	Holds    bool         `json:"holds"`
	Senders  []senderJSON `json:"senders"`
	Warnings []string     `json:"warnings,omitempty"`
	Unasked  []string     `json:"unasked,omitempty"`
}

type senderJSON struct {
	Senders   []string       `json:"senders"`
	Holds     bool           `json:"holds"`
	Error     string         `json:"error,omitempty"`
	Outbounds []outboundJSON `json:"outbounds"`
	Waited    int            `json:"limitsWaitedFor"`
	NotWaited []string       `json:"limitsNotWaitedFor,omitempty"`
	Problems  []string       `json:"problems,omitempty"`
}

type outboundJSON struct {
	Outbound string      `json:"outbound"`
	Service  string      `json:"service"`
	Protocol string      `json:"protocol"`
	Sampled  []string    `json:"sampled,omitempty"`
	Classes  []classJSON `json:"classes"`
}

type classJSON struct {
	Class    string   `json:"class"`
	Proven   bool     `json:"proven"`
	Route    string   `json:"route"`
	Backends string   `json:"backends"`
	Method   string   `json:"method,omitempty"`
	Path     string   `json:"path,omitempty"`
	Took     string   `json:"took,omitempty"`
	Cause    string   `json:"cause,omitempty"`
	Requests int      `json:"requests"`
	Problems []string `json:"problems,omitempty"`
}

// Form returns the JSON form of the report, nil for no report.
func (r *Report) Form() *JSON {
	if r == nil {
		return nil
	}
	out := &JSON{Sentence: r.Sentence(), Holds: r.Holds(), Senders: []senderJSON{}, Warnings: r.Warnings, Unasked: r.Unasked}
	for _, v := range r.Verdicts {
		s := senderJSON{Senders: v.Senders, Holds: v.Holds(), Outbounds: []outboundJSON{}, Waited: v.Waited}
		for _, u := range v.NotWaited {
			s.NotWaited = append(s.NotWaited, u.String())
		}
		if v.Result.Err != nil {
			s.Error = v.Result.Err.Error()
		}
		for _, q := range v.Wrong() {
			s.Problems = append(s.Problems, q.Place+": "+problems(q))
		}
		for i, o := range v.Outbounds {
			form := outboundJSON{Outbound: o.Name, Service: o.Service.String(), Protocol: o.Protocol.String(), Sampled: o.Cover.Sampled, Classes: []classJSON{}}
			for _, c := range v.Classes[i] {
				j := classJSON{Class: c.Text, Proven: c.Proven, Route: c.route(), Backends: c.backends(), Method: c.Witness.Method, Path: c.Witness.Path, Requests: c.Requests}
				if c.Requests > 0 {
					j.Took, j.Cause = c.Witness.Finding.Backend, c.Witness.Finding.Cause.String()
				}
				if len(c.Witness.Problems) > 0 {
					j.Problems = append(j.Problems, problems(c.Witness))
				}
				form.Classes = append(form.Classes, j)
			}
			s.Outbounds = append(s.Outbounds, form)
		}
		out.Senders = append(out.Senders, s)
	}
	return out
}

func problems(q result.RoutedRequest) string {
	var out []string
	for _, p := range q.Problems {
		out = append(out, p.String())
	}
	return strings.Join(out, "; ")
}
