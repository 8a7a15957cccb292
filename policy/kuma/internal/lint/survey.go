package lint

import (
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/kuma/internal/selection"
)

// Survey has the warnings that need all inbounds together. [Lint] returns them
// among others.
type Survey struct {
	// Idle has a warning for each policy that applies to no inbound.
	Idle []policy.Warning
	// Hidden has a warning for each allow that denies take on every inbound, and for
	// each item of from that items of stronger policies override on every inbound.
	Hidden []policy.Warning
}

// TakeSurvey surveys the policies on the given inbounds. Without an inbound it finds
// nothing.
func TakeSurvey(ps []permission.Policy, inbounds []policy.Inbound, opts permission.Options) Survey {
	s := newSurvey()
	for _, in := range inbounds {
		s.add(selection.Select(ps, in, opts), in)
	}
	return Survey{Idle: s.idleWarnings(ps), Hidden: s.hiddenWarnings()}
}

// survey gathers the selections of several inbounds.
type survey struct {
	denied     deniedAllows
	overridden overriddenItems
	applied    map[string]bool
	// reasons has the first reason for which each policy was ignored.
	reasons map[string]string
}

func newSurvey() *survey {
	return &survey{
		applied: make(map[string]bool),
		reasons: make(map[string]string),
	}
}

func (s *survey) add(sel selection.Selection, in policy.Inbound) {
	s.denied.add(sel.Policies, in.Protocol.Layer())
	s.overridden.add(sel.Policies)
	for i := range sel.Policies {
		s.applied[sel.Policies[i].Origin] = true
	}
	for i := range sel.Ignored {
		if origin := sel.Ignored[i].Policy.Origin; s.reasons[origin] == "" {
			s.reasons[origin] = in.String() + ": " + sel.Ignored[i].Reason
		}
	}
}

func (s *survey) hiddenWarnings() []policy.Warning {
	return append(s.denied.warnings(), s.overridden.warnings()...)
}

// idleWarnings warns of the policies that select no inbound.
func (s *survey) idleWarnings(ps []permission.Policy) []policy.Warning {
	var out []policy.Warning
	for i := range ps {
		// A policy without a reason was never ignored: there is no inbound.
		if p := &ps[i]; !s.applied[p.Origin] && s.reasons[p.Origin] != "" {
			out = append(out, p.Warn("", "%s %s applies to no inbound (%s)", permission.KindName, p.ID.Name, s.reasons[p.Origin]))
		}
	}
	return out
}
