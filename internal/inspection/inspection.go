// Package inspection says what applies to an inbound: the mode of its mTLS, the tokens that it
// takes, what asks and judges a request in which order, and why the other policies do not apply.
//
// It guarantees that the order is that of the program, which is what Envoy is asked about, and
// that each policy that was read is a rule there or has a reason. It is the same for every dialect.
// It asks no Envoy, and it decides no request: package explanation does.
package inspection

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/mtls"
	"github.com/meshproof/meshproof/internal/terminal"
	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
)

// Inspection is what applies to one inbound.
type Inspection struct {
	Case     string `json:"case,omitempty"`
	Inbound  string `json:"inbound"`
	Protocol string `json:"protocol"`
	// MTLS says which callers the inbound takes, by the policies or else by the case.
	MTLS string `json:"mtls"`
	// MTLSBy is the policy that says so, with "file:line"; empty where none does.
	MTLSBy string `json:"mtlsBy,omitempty"`
	// MTLSUnstated is true where a case leaves the mode out and the mesh of the policies takes plaintext by default.
	MTLSUnstated bool `json:"mtlsUnstated,omitempty"`
	// Applies has the policies that select the inbound, with "file:line".
	Applies []string `json:"applies"`
	// Steps are in the order in which a request passes them.
	Steps []Step `json:"steps"`
	// Ignored has a line for each policy that does not apply, with the reason.
	Ignored []string `json:"ignored"`

	title string
}

// Step is one judge of a request: a gate, a shadow, or the filter for tokens.
type Step struct {
	// Route is the route for which the step stands; empty for all requests.
	Route string `json:"route,omitempty"`
	// Does says what becomes of the requests that a rule matches.
	Does string `json:"does"`
	// Layer is L4, where connections are judged, or L7.
	Layer string `json:"layer"`
	Rules []Rule `json:"rules"`
	// Otherwise is what becomes of all other requests; empty for the filter for tokens.
	Otherwise string `json:"otherwise,omitempty"`
}

// Rule is a rule of a step, under the name that Envoy reports.
type Rule struct {
	Name string `json:"name"`
	When string `json:"when"`
	// Effect is allow, deny, log or ask.
	Effect string `json:"effect"`
}

// Inspections are those of several inbounds.
type Inspections []Inspection

// Inspect inspects each subject.
func Inspect(subjects []lab.Subject) Inspections {
	out := make(Inspections, len(subjects))
	for i, s := range subjects {
		program := s.Set.Program(s.Inbound.Inbound)
		mode := program.MTLS
		if mode == mtls.Unset {
			mode = s.Inbound.MTLS
		}
		one := Inspection{
			Case: s.Case, Inbound: s.Inbound.String(), Protocol: s.Inbound.Protocol.String(), MTLS: mode.String(),
			MTLSUnstated: verdict.Unstated(s.Inbound, program) != "",
			Applies:      applying(s), Ignored: append([]string{}, s.Set.Ignored(s.Inbound.Inbound)...), title: s.Title(),
		}
		if set, ok := s.Set.(capability.Moder); ok {
			one.MTLSBy = set.ModeBy(s.Inbound.Inbound)
		}
		one.Steps = append([]Step{}, stepsOf("", program.Gates, program.Shadows)...)
		if s.Inbound.Protocol.Layer() == policy.L7 && program.Tokens.Reads() {
			one.Steps = slices.Insert(one.Steps, asking(program.Gates), tokensOf(program.Tokens))
		}
		for _, route := range program.Routes {
			one.Steps = append(one.Steps, stepsOf(route.Name, route.Gates, route.Shadows)...)
		}
		out[i] = one
	}
	return out
}

// applying returns the policies that select the inbound, also those without a rule, but for those that
// another one displaces.
func applying(s lab.Subject) []string {
	out := []string{}
	set, ok := s.Set.(capability.Targeter)
	if !ok {
		return out
	}
	var displaced []string
	if of, ok := s.Set.(capability.Displacer); ok {
		displaced = of.Displaced(s.Inbound.Inbound)
	}
	for _, target := range set.Targets() {
		line := fmt.Sprintf("%s (%s)", target.Policy, target.Place)
		if target.Selects(s.Inbound.Inbound) && !slices.Contains(displaced, target.Policy) && !slices.Contains(out, line) {
			out = append(out, line)
		}
	}
	return out
}

// asking returns the number of gates that ask an authorizer. They stand in front of the filter
// for tokens.
func asking(gates []policy.Gate) (n int) {
	for n < len(gates) && gates[n].Asks != nil {
		n++
	}
	return n
}

func stepsOf(route string, gates, shadows []policy.Gate) (out []Step) {
	for _, gate := range gates {
		out = append(out, stepOf(route, "", gate))
	}
	for _, shadow := range shadows {
		out = append(out, stepOf(route, "dry run: ", shadow))
	}
	return out
}

// firstRule is what an ordered gate does.
const firstRule = "decides by the first rule"

func stepOf(route, begin string, gate policy.Gate) Step {
	out := Step{Route: route, Layer: gate.Layer.String(), Rules: []Rule{}, Otherwise: gate.Default.Effect.String()}
	effects := map[policy.Effect]bool{}
	for rule := range eachRule(gate.Rules) {
		effects[rule.Effect] = true
		when := rule.When
		if asked, ok := when.(policy.And); gate.Asks != nil && ok && len(asked) == 2 {
			when = asked[0]
		}
		if when == nil {
			when = policy.Never
		}
		effect := rule.Effect.String()
		if gate.Asks != nil {
			effect = "ask"
		}
		out.Rules = append(out.Rules, Rule{rule.Origin, fmt.Sprint(when), effect})
	}
	switch {
	case gate.Asks != nil:
		out.Does, out.Otherwise = fmt.Sprintf("asks the authorizer %s", gate.Asks.Provider), "goes on"
	case gate.Logs():
		out.Does, out.Otherwise = "logs", "goes on"
	case len(effects) > 1:
		out.Does = firstRule
	case effects[policy.Deny]:
		out.Does = "denies"
	default:
		out.Does = "allows"
	}
	out.Does = begin + out.Does
	return out
}

// eachRule yields the rules, with those inside of others in front of them.
func eachRule(rules []policy.Rule) func(yield func(policy.Rule) bool) {
	return func(yield func(policy.Rule) bool) {
		for _, rule := range rules {
			for inner := range eachRule(rule.Then) {
				inner.When = policy.And{rule.When, inner.When}
				if !yield(inner) {
					return
				}
			}
			if !yield(rule) {
				return
			}
		}
	}
}

func tokensOf(d token.Demand) Step {
	out := Step{Does: "verifies tokens", Layer: policy.L7.String(), Rules: []Rule{}}
	for _, issuer := range d.Issuers {
		out.Rules = append(out.Rules, Rule{issuer.Name, "a token of the issuer is sent", policy.Deny.String()})
	}
	return out
}

// WriteText prints each inbound, its steps in order, and what does not apply.
func (all Inspections) WriteText(w io.Writer, _ terminal.Paint) {
	for i, one := range all {
		if i > 0 {
			fmt.Fprintln(w)
		}
		mode := one.MTLS
		if one.MTLSBy != "" {
			mode += ", by " + one.MTLSBy
		}
		if one.MTLSUnstated {
			mode += ", as the case states none: the mesh itself takes plaintext by default"
		}
		fmt.Fprintf(w, "%s\n  mTLS: %s\n", one.title, mode)
		for _, line := range one.Applies {
			fmt.Fprintf(w, "  applies: %s\n", line)
		}
		if len(one.Steps) == 0 {
			fmt.Fprintln(w, "  no rule judges requests: every caller passes once its connection is taken")
		}
		for n, step := range one.Steps {
			place := step.Layer
			if step.Route != "" {
				place += ", route " + step.Route
			}
			fmt.Fprintf(w, "  %d. %s (%s)\n", n+1, step.Does, place)
			for _, rule := range step.Rules {
				name := rule.Name
				if strings.HasSuffix(step.Does, firstRule) {
					name = rule.Effect + " by " + name
				}
				fmt.Fprintf(w, "       %s when %s\n", name, rule.When)
			}
			if step.Otherwise != "" {
				fmt.Fprintf(w, "       any other: %s\n", step.Otherwise)
			}
		}
		for _, line := range one.Ignored {
			fmt.Fprintf(w, "  does not apply: %s\n", line)
		}
	}
}
