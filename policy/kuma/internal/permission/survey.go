package permission

import "github.com/meshproof/meshproof/policy"

// Survey is what only all inbounds together show of a set of policies. [Lint]
// has the same findings among others.
type Survey struct {
	// Idle has a warning for each policy that applies to none of the inbounds.
	Idle []policy.Warning
	// Hidden has a warning for each allow of which denies leave nothing on any
	// inbound it applies to, and for each item of from that items of stronger
	// policies leave nothing to decide on any of them.
	Hidden []policy.Warning
}

// Look surveys the policies of the given inbounds. Without any inbound there is
// nothing to find.
func Look(ps []Policy, inbounds []policy.Inbound, opts Options) Survey {
	s := newSurvey()
	for _, in := range inbounds {
		s.observe(Select(ps, in, opts), in)
	}
	return Survey{Idle: s.idle(ps), Hidden: s.hides()}
}

// survey gathers the selections of several inbounds.
type survey struct {
	hidden     hiding
	overridden overriding
	applied    map[string]bool
	// why is the first reason for which a policy was ignored.
	why map[string]string
}

func newSurvey() *survey {
	return &survey{
		applied: make(map[string]bool),
		why:     make(map[string]string),
	}
}

func (s *survey) observe(sel Selection, in policy.Inbound) {
	s.hidden.observe(sel.Policies, in.Protocol.Layer())
	s.overridden.observe(sel.Policies)
	for i := range sel.Policies {
		s.applied[sel.Policies[i].origin] = true
	}
	for i := range sel.Ignored {
		if origin := sel.Ignored[i].Policy.origin; s.why[origin] == "" {
			s.why[origin] = in.String() + ": " + sel.Ignored[i].Reason
		}
	}
}

// hides warns of allows and of items of from that others leave nothing of.
func (s *survey) hides() []policy.Warning {
	return append(s.hidden.warnings(), s.overridden.warnings()...)
}

// idle warns of the policies that select no inbound.
func (s *survey) idle(ps []Policy) []policy.Warning {
	var out []policy.Warning
	for i := range ps {
		// Without a reason there was no inbound to select.
		if p := &ps[i]; !s.applied[p.origin] && s.why[p.origin] != "" {
			out = append(out, p.warn("", "%s %s applies to no inbound (%s)", kindName, p.id.Name, s.why[p.origin]))
		}
	}
	return out
}
