// Package explanation shows the way to the decision on one request: every rule in order,
// which of them match, and which one decides.
//
// It guarantees that the deciding rule is the rule that [policy.Decide] names. It asks
// no Envoy.
package explanation

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/destination"
	"github.com/meshproof/meshproof/internal/endpoint"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/requestline"
	"github.com/meshproof/meshproof/internal/terminal"
	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
)

// Explanations are those of one request to several inbounds.
type Explanations []Explanation

// Explanation is the way to the decision on one request to one inbound.
type Explanation struct {
	Case string `json:"case,omitempty"`
	// Assumed is true where neither files nor flags describe the inbound.
	Assumed  bool   `json:"assumed,omitempty"`
	Inbound  string `json:"inbound"`
	Protocol string `json:"protocol"`
	Caller   string `json:"caller"`
	// Made says who the caller is among those that were made for the policies.
	Made    string `json:"made,omitempty"`
	Request string `json:"request,omitempty"`
	// Source is the address that the caller plays, if it is not the caller's own.
	Source string `json:"sourceIP,omitempty"`
	// Destination is the address that the caller connects to, where the policies ask for it.
	Destination string `json:"destinationIP,omitempty"`
	// SNI is the server name of the handshake, as Envoy keeps it.
	SNI string `json:"sni,omitempty"`
	// Token has the claims of the token; empty for none.
	Token string `json:"token,omitempty"`
	// Host is the authority that the caller asks for, if it is not the inbound's address, and
	// Headers are its other header lines.
	Host     string   `json:"host,omitempty"`
	Headers  []string `json:"headers,omitempty"`
	Decision string   `json:"decision"`
	// Place and ShadowPlace have file, line and field of what decides, and of what decides in the shadow; "" where no line does.
	Place       string `json:"place,omitempty"`
	ShadowPlace string `json:"shadowPlace,omitempty"`
	// MTLS says why mTLS keeps a caller out that no case names; Decision is that of the policies.
	MTLS string `json:"mtls,omitempty"`
	// Hint says that the rules are about another trust domain than the caller's.
	Hint     string   `json:"hint,omitempty"`
	Shadow   string   `json:"shadow"`
	Gates    []Gate   `json:"gates"`
	Ignored  []string `json:"ignored,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
}

// Gate is one gate, or one shadow.
type Gate struct {
	Layer  string `json:"layer"`
	Shadow bool   `json:"shadow"`
	// Name tells a shadow from others.
	Name    string `json:"name,omitempty"`
	Rules   []Rule `json:"rules"`
	Default string `json:"default"`
	// Decides is true where no rule decided.
	Decides bool `json:"defaultDecides"`
}

// Rule is a rule, which may have others within it. Its verdict is then that of the
// requests that none of them matches.
type Rule struct {
	Verdict string `json:"verdict"`
	When    string `json:"when"`
	Matches bool   `json:"matches"`
	Decides bool   `json:"decides"`
	Rules   []Rule `json:"rules,omitempty"`
}

// checkRequestLine refuses a method and a path that cannot be sent.
func checkRequestLine(method, path string) error {
	for flag, text := range map[string]string{"method": method, "path": path} {
		if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
			return fmt.Errorf("--%s: %q cannot stand in a request line", flag, text)
		}
	}
	if path == "" || path[0] != '/' && path != "*" {
		return fmt.Errorf("--path: %q does not begin with /", path)
	}
	return nil
}

// Explain explains one request to each subject, as each caller would send it: the request names
// no caller and no inbound. It fails where a subject has no caller of the name.
func Explain(subjects []lab.Subject, from Caller, request cases.Request) (Explanations, error) {
	out := make(Explanations, len(subjects))
	for i, s := range subjects {
		caller, err := from.callerOf(s)
		if err != nil {
			return nil, err
		}
		program := s.Set.Program(s.Inbound.Inbound)
		if s.Inbound.MTLS, err = verdict.ModeOf(s.Inbound, program); err != nil {
			return nil, fmt.Errorf("%s: %w", s.Title(), err)
		}
		if s.Normalization, err = verdict.NormalizationOf(s.Set, s.Normalization); err != nil {
			return nil, fmt.Errorf("%s: %w", s.Title(), err)
		}
		q := request
		if q.From = caller; !q.SourceIP.IsValid() {
			q.SourceIP = caller.SourceIP
		}
		out[i] = explain(s, program, q)
		out[i].Made = whoIs(caller, s.Made)
		if caller.Name != "" {
			out[i].keepOut(s, program, caller, q)
		} else {
			out[i].addTrust(s, program, q)
		}
		if len(out[i].Gates) > 0 {
			out[i].locate(s, program, q)
		}
	}
	return out, nil
}

// whoIs says which made workload the caller is, "" where none was made.
func whoIs(from cases.Caller, made map[string]string) string {
	if made == nil {
		return ""
	}
	for _, uri := range from.Template.URIs {
		if text := made[uri]; text != "" {
			return text
		}
	}
	return "none of the workloads that were made for the policies, so it is of the world"
}

func explain(s lab.Subject, program language.Program, q cases.Request) Explanation {
	q.Token = program.Tokens.Complete(q.Token)
	request, answer := see(s, program, q)
	e := Explanation{
		Case: s.Case, Assumed: s.Assumed, Inbound: s.Inbound.String(), Protocol: s.Inbound.Protocol.String(),
		Caller: request.Identity(), Shadow: "none", Gates: []Gate{},
	}
	for _, name := range request.DNS {
		e.Caller = strings.TrimSpace(e.Caller + " " + dnsPrefix + name)
	}
	decision, traces := policy.Explain(program.Program, request)
	beforePath, beforeToken := verdict.Precedes(decision, traces)
	if answer != "" && !beforePath {
		e.Request, e.Decision = q.Method+" "+q.Path, answer
		return e
	}
	if s.Inbound.Protocol.Layer() == policy.L7 {
		e.Request, e.Host, e.Token = request.Method+" "+cmp.Or(request.Path, q.Path), q.Authority, token.Text(q.Token)
		for _, h := range request.Headers {
			e.Headers = append(e.Headers, requestline.Line(h))
		}
		if refusal := program.Tokens.ForRequest(q.Method, q.Headers).RefusesWith(q.Token, q.Path, q.Headers); refusal.Status != 0 && !beforeToken {
			e.Decision = fmt.Sprintf("%d: %s", refusal.Status, refusal.Why)
			return e
		}
	}
	e.SNI, e.Source = request.SNI, endpoint.Played(q.SourceIP, q.From.SourceIP)
	if destination.IsAsked(program.Program) {
		e.Destination = request.Destination.String()
	}
	e.Decision = decision.Verdict.String()
	if decision.Shadowed {
		e.Shadow = decision.Shadow.String()
	}
	for _, t := range traces {
		e.Gates = append(e.Gates, explainGate(t, &request))
	}
	e.Ignored = s.Set.Ignored(s.Inbound.Inbound)
	for _, w := range s.Warnings() {
		e.Warnings = append(e.Warnings, w.String())
	}
	return e
}

// see returns a request as the policies see it, and what becomes of it instead where they are not asked about it as it is
// written: the listener answers, or nobody does.
func see(s lab.Subject, program language.Program, q cases.Request) (seen policy.Request, answer string) {
	seen, err := verdict.See(s.Inbound, s.Normalization, program.Tokens, q)
	over := s.Inbound.Protocol
	if rejected := verdict.RejectedBy(q, over, err); rejected != nil {
		return seen, fmt.Sprintf("%d: %v", rejected.Status, rejected.Why)
	}
	if refusal := requestline.Refuse(q.Method, q.Path, over); refusal.Unanswered() {
		return seen, "no answer: " + refusal.Why.Error()
	}
	if tunnel := requestline.CheckTunnel(q.Method, over); tunnel != nil {
		return seen, "not served: " + tunnel.Error()
	}
	return seen, ""
}

func explainGate(t policy.Trace, r *policy.Request) Gate {
	rules, decided := explainRules(t.Gate.Rules, r, true)
	return Gate{
		Layer: t.Gate.Layer.String(), Shadow: t.Shadow, Name: t.Gate.Name, Rules: append([]Rule{}, rules...),
		Default: t.Gate.Default.String(), Decides: !decided,
	}
}

// explainRules judges each rule of a list, and reports whether one of them
// decides; none does where the list is not asked.
func explainRules(rules []policy.Rule, r *policy.Request, asked bool) (out []Rule, decided bool) {
	for _, rule := range rules {
		e := Rule{Verdict: rule.Verdict.String(), When: rule.When.String(), Matches: rule.Matches(r)}
		enters := asked && !decided && e.Matches
		var within bool
		e.Rules, within = explainRules(rule.Then, r, enters)
		e.Decides = enters && !within
		decided = decided || enters
		out = append(out, e)
	}
	return out, decided
}

// WriteText prints each explanation.
func (all Explanations) WriteText(w io.Writer, _ terminal.Paint) {
	for _, e := range all {
		e.write(w)
	}
}

func (e Explanation) write(w io.Writer) {
	if e.Assumed {
		fmt.Fprintln(w, "assumed   neither files nor flags describe an inbound: the answer is about one that the policies may not mean")
	}
	if e.Case != "" {
		fmt.Fprintf(w, "case      %s\n", terminal.Printable(e.Case))
	}
	fmt.Fprintf(w, "inbound   %s (%s)\ncaller    %s\n", e.Inbound, e.Protocol, cmp.Or(e.Caller, "without a SAN, for there is no --from"))
	if e.Made != "" {
		fmt.Fprintf(w, "made      %s\n", terminal.Printable(e.Made))
	}
	if e.Request != "" {
		fmt.Fprintf(w, "request   %s\n", e.Request)
	}
	if e.Source != "" {
		fmt.Fprintf(w, "from      %s\n", e.Source)
	}
	if e.Destination != "" {
		fmt.Fprintf(w, "to        %s\n", e.Destination)
	}
	if e.SNI != "" {
		fmt.Fprintf(w, "sni       %s\n", e.SNI)
	}
	if e.Token != "" {
		fmt.Fprintf(w, "token     %s\n", terminal.Printable(e.Token))
	}
	if e.Host != "" {
		fmt.Fprintf(w, "host      %s\n", terminal.Printable(e.Host))
	}
	for _, line := range e.Headers {
		fmt.Fprintf(w, "header    %s\n", terminal.Printable(line))
	}
	decision := e.Decision
	if e.MTLS != "" {
		decision += " (the policies alone, see mtls)"
	}
	fmt.Fprintf(w, "decision  %s\n", decision)
	writePlace(w, e.Place)
	fmt.Fprintf(w, "shadow    %s\n", e.Shadow)
	writePlace(w, e.ShadowPlace)
	if e.MTLS != "" {
		fmt.Fprintf(w, "mtls      the handshake fails in this mesh: %s\n", terminal.Printable(e.MTLS))
	}
	if e.Hint != "" {
		fmt.Fprintf(w, "hint      %s\n", terminal.Printable(e.Hint))
	}
	for _, g := range e.Gates {
		g.write(w)
	}
	writeList(w, "ignored", e.Ignored)
	writeList(w, "warnings", e.Warnings)
	fmt.Fprintln(w)
}

func (g Gate) write(w io.Writer) {
	title := "gate"
	if g.Shadow {
		title = "shadow"
	}
	if g.Name != "" {
		title += " " + terminal.Printable(g.Name)
	}
	fmt.Fprintf(w, "%s %s\n", title, g.Layer)
	writeRules(w, g.Rules, g.Default, g.Decides, " ")
}

func writeRules(w io.Writer, rules []Rule, fallback string, decides bool, indent string) {
	for _, r := range rules {
		if len(r.Rules) == 0 {
			fmt.Fprintf(w, "  %s%s%s when %s\n", state(r.Matches, r.Decides), indent, r.Verdict, r.When)
			continue
		}
		fmt.Fprintf(w, "  %s%swhen %s\n", state(r.Matches, false), indent, r.When)
		writeRules(w, r.Rules, r.Verdict, r.Decides, indent+"  ")
	}
	fmt.Fprintf(w, "  %s%selse %s\n", state(false, decides), indent, fallback)
}

func state(matches, decides bool) string {
	switch {
	case decides:
		return "DECIDES "
	case matches:
		return "matches "
	default:
		return "        "
	}
}

// writePlace prints where the rule stands that decides, if there is one.
func writePlace(w io.Writer, place string) {
	if place != "" {
		fmt.Fprintf(w, "at        %s\n", terminal.Printable(place))
	}
}

func writeList(w io.Writer, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintln(w, title)
	for _, line := range lines {
		fmt.Fprintf(w, "  %s\n", line)
	}
}
