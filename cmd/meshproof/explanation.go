package main

import (
	"fmt"
	"io"

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

type ruleExplanation struct {
	Verdict string `json:"verdict"`
	When    string `json:"when"`
	Matches bool   `json:"matches"`
	Decides bool   `json:"decides"`
}

func explainGate(t policy.Trace) gateExplanation {
	g := gateExplanation{
		Layer: t.Gate.Layer.String(), Shadow: t.Shadow, Rules: []ruleExplanation{},
		Default: t.Gate.Default.String(), Decides: t.Decisive < 0,
	}
	for i, rule := range t.Gate.Rules {
		g.Rules = append(g.Rules, ruleExplanation{
			Verdict: rule.Verdict.String(), When: rule.When.String(),
			Matches: t.Matched[i], Decides: i == t.Decisive,
		})
	}
	return g
}

func (e explanation) write(w io.Writer) {
	if e.Case != "" {
		fmt.Fprintf(w, "case      %s\n", printable(e.Case))
	}
	fmt.Fprintf(w, "inbound   %s (%s)\ncaller    %s\n", e.Inbound, e.Protocol, orElse(e.Caller, "without a URI SAN"))
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
	for _, r := range g.Rules {
		state := "        "
		if r.Matches {
			state = "matches "
		}
		if r.Decides {
			state = "DECIDES "
		}
		fmt.Fprintf(w, "  %s %s when %s\n", state, r.Verdict, r.When)
	}
	state := "        "
	if g.Decides {
		state = "DECIDES "
	}
	fmt.Fprintf(w, "  %s else %s\n", state, g.Default)
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
