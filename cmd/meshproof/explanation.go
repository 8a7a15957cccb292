package main

import (
	"cmp"
	"fmt"
	"io"

	"github.com/meshproof/meshproof/internal/terminal"
	"github.com/meshproof/meshproof/policy"
)

// explanation is what explain prints, in text or as JSON.
type explanation struct {
	Case     string            `json:"case,omitempty"`
	Inbound  string            `json:"inbound"`
	Protocol string            `json:"protocol"`
	Caller   string            `json:"caller"`
	Request  string            `json:"request,omitempty"`
	Decision string            `json:"decision"`
	Shadow   string            `json:"shadow"`
	Gates    []gateExplanation `json:"gates"`
	Ignored  []string          `json:"ignored,omitempty"`
	Warnings []string          `json:"warnings,omitempty"`
}

type gateExplanation struct {
	Layer   string            `json:"layer"`
	Shadow  bool              `json:"shadow"`
	Rules   []ruleExplanation `json:"rules"`
	Default string            `json:"default"`
	// Decides is true where no rule decided.
	Decides bool `json:"defaultDecides"`
}

// ruleExplanation is a rule, which may nest others: its verdict then is that of
// the requests that none of them matches.
type ruleExplanation struct {
	Verdict string            `json:"verdict"`
	When    string            `json:"when"`
	Matches bool              `json:"matches"`
	Decides bool              `json:"decides"`
	Rules   []ruleExplanation `json:"rules,omitempty"`
}

func explainGate(t policy.Trace, r *policy.Request) gateExplanation {
	rules, decided := explainRules(t.Gate.Rules, r, true)
	return gateExplanation{
		Layer: t.Gate.Layer.String(), Shadow: t.Shadow, Rules: append([]ruleExplanation{}, rules...),
		Default: t.Gate.Default.String(), Decides: !decided,
	}
}

// explainRules judges each rule of a list, and reports whether one of them
// decides; none does where the list is not asked.
func explainRules(rules []policy.Rule, r *policy.Request, asked bool) (out []ruleExplanation, decided bool) {
	for _, rule := range rules {
		e := ruleExplanation{Verdict: rule.Verdict.String(), When: rule.When.String(), Matches: rule.Matches(r)}
		enters := asked && !decided && e.Matches
		var within bool
		e.Rules, within = explainRules(rule.Then, r, enters)
		e.Decides = enters && !within
		decided = decided || enters
		out = append(out, e)
	}
	return out, decided
}

func (e explanation) write(w io.Writer) {
	if e.Case != "" {
		fmt.Fprintf(w, "case      %s\n", terminal.Printable(e.Case))
	}
	fmt.Fprintf(w, "inbound   %s (%s)\ncaller    %s\n", e.Inbound, e.Protocol, cmp.Or(e.Caller, "without a URI SAN"))
	if e.Request != "" {
		fmt.Fprintf(w, "request   %s\n", e.Request)
	}
	fmt.Fprintf(w, "decision  %s\nshadow    %s\n", e.Decision, e.Shadow)
	for _, g := range e.Gates {
		g.write(w)
	}
	writeList(w, "ignored", e.Ignored)
	writeList(w, "warnings", e.Warnings)
	fmt.Fprintln(w)
}

func (g gateExplanation) write(w io.Writer) {
	title := "gate"
	if g.Shadow {
		title = "shadow"
	}
	fmt.Fprintf(w, "%s %s\n", title, g.Layer)
	writeRules(w, g.Rules, g.Default, g.Decides, " ")
}

func writeRules(w io.Writer, rules []ruleExplanation, fallback string, decides bool, indent string) {
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

func writeList(w io.Writer, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintln(w, title)
	for _, line := range lines {
		fmt.Fprintf(w, "  %s\n", line)
	}
}
