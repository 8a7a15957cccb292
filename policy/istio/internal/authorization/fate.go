package authorization

import (
	"slices"
	"strings"
	"sync"

	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/internal/warning"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/classes"
)

// mostRules bounds the rules of an inbound whose fates [fateOf] asks for: the time for each rule
// grows with the number of rules.
const mostRules = 256

// fate is what becomes of the requests that a rule matches on an inbound.
type fate struct {
	// lives is true where a request meets the rule and no DENY refuses it, and where neither
	// is proven.
	lives bool
	// deniedBy are the rules that refuse all requests that the rule allows. It is empty where
	// no request meets the rule.
	deniedBy []string
}

// fateOf returns the fate of a rule in the program of an inbound. It is proven by all classes of
// requests that the rule and the DENYs tell apart.
func fateOf(origin string, program policy.Program, on classes.Surface) fate {
	var denies []policy.Gate
	var asked policy.Program
	for _, gate := range slices.Concat(program.Gates, program.Shadows) {
		if i := slices.IndexFunc(gate.Rules, func(r policy.Rule) bool { return r.Origin == origin }); i >= 0 {
			alone := policy.Rule{Verdict: policy.Verdict{Effect: policy.Allow}, When: gate.Rules[i].When}
			asked.Gates = []policy.Gate{{Layer: gate.Layer, Form: gate.Form, Rules: []policy.Rule{alone}}}
			if gate.Name == "" && gate.Rules[i].Effect == policy.Allow {
				asked.Gates = append(asked.Gates, denies...)
			}
		}
		if gate.Name == "" && gate.Default.Effect == policy.Allow {
			denies = append(denies, gate)
		}
	}
	if countRules(program) > mostRules || asked.Gates == nil {
		return fate{lives: true}
	}
	cover := classes.Cut(on, asked)
	var out fate
	for _, class := range cover.Classes {
		switch d := policy.Decide(asked, class.Witness); {
		case d.Effect == policy.Allow:
			return fate{lives: true}
		case d.Origin != "" && !slices.Contains(out.deniedBy, d.Origin):
			out.deniedBy = append(out.deniedBy, d.Origin)
		}
	}
	out.lives = !cover.Complete()
	slices.Sort(out.deniedBy)
	return out
}

// countRules returns the number of rules of a program, those of its shadows too.
func countRules(program policy.Program) int {
	rules := 0
	for _, gate := range slices.Concat(program.Gates, program.Shadows) {
		rules += len(gate.Rules)
	}
	return rules
}

// survey has what the policies are on each inbound, which is made when it is asked for.
type survey struct {
	policies []Policy
	options  Options
	demand   func(policy.Inbound) token.Demand
	inbounds map[string]surveyed
}

// surveyed is an inbound with the program of the policies there.
type surveyed struct {
	program policy.Program
	surface classes.Surface
	// classes returns the classes of requests that the program tells apart.
	classes func() []classes.Class
}

// lower returns what the policies are on an inbound.
func (s survey) lower(in policy.Inbound) surveyed {
	key := in.Workload.Namespace + "/" + in.String()
	known, ok := s.inbounds[key]
	if !ok {
		demand := s.demand(in)
		known.program = Lower(Select(s.policies, in, s.options), in, s.options)
		known.surface = classes.Surface{Protocol: in.Protocol, Normalization: s.options.lets(), Ports: []uint16{in.Port}, Tokens: &demand}
		known.classes = sync.OnceValue(func() []classes.Class { return classes.Cut(known.surface, known.program).Classes })
		s.inbounds[key] = known
	}
	return known
}

// lintFate warns of a rule that has no effect on any of the inbounds that it reaches. Where
// another warning is about the rule already, it is only said that DENYs hide it.
func (s survey) lintFate(p Policy, i int, selected []policy.Inbound, warned bool) []policy.Warning {
	r := p.rules[i]
	var deniedBy []string
	asked := false
	for _, in := range selected {
		dropped := in.Protocol.Layer() == policy.L4 && p.resource.Spec.Action == actionAllow && r.asksHTTP()
		if dropped || !r.reaches(in.Port) {
			continue
		}
		known := s.lower(in)
		if (r.isPlain() || warned) && !deniesBefore(p, known.program) {
			return nil
		}
		found := fateOf(p.origin(i), known.program, known.surface)
		if found.lives {
			return nil
		}
		asked = true
		if len(found.deniedBy) > 0 {
			deniedBy = found.deniedBy
		}
	}
	switch {
	case !asked, warned && deniedBy == nil:
		return nil
	case deniedBy != nil:
		return []policy.Warning{p.warn(warning.HiddenByDeny, r.field, "never allows: every request that it meets is denied, by %s", strings.Join(deniedBy, " and "))}
	default:
		return []policy.Warning{p.warn(warning.NeverMatches, r.field, "no request that reaches an inbound of the policy meets the rule")}
	}
}

// isPlain reports whether the rule asks for no part of a request twice and for no token, so that a
// request meets it unless one of its values is met by none.
func (r rule) isPlain() bool {
	seen := map[string]bool{}
	for t := range r.terms {
		name := t.subject.name
		if seen[name] || len(t.not) > 0 || name == "requestPrincipals" || strings.HasPrefix(name, "request.auth.") || strings.HasPrefix(name, "request.headers[:") {
			return false
		}
		seen[name] = true
	}
	return true
}

// deniesBefore reports whether an enforced DENY may take the requests of the policy.
func deniesBefore(p Policy, program policy.Program) bool {
	return p.resource.Spec.Action == actionAllow && !p.observes && slices.ContainsFunc(program.Gates, func(g policy.Gate) bool { return g.Default.Effect == policy.Allow })
}
