package networkpolicy

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/labelselector"
	"github.com/meshproof/meshproof/internal/policylist"
	"github.com/meshproof/meshproof/policy"
)

// Selection is what applies to one inbound, and what does not.
type Selection struct {
	// Deny and Allow are the rules of ingress of the specs that select the endpoint.
	Deny, Allow []rule
	// DefaultDeny is true where one of the specs closes what no rule allows.
	DefaultDeny bool
	// Ignored has a line for each policy, and each part of one, that has no part in the decision.
	Ignored []string
}

// Select returns the rules that apply to the endpoint of the inbound. They apply to all
// inbounds of a workload or to none; which ports they are about, [Lower] asks. Ignored keeps
// the order of ps; nothing else of the result depends on it.
func Select(ps []Policy, in policy.Inbound, opts Options) Selection {
	var out Selection
	e := identityOf(in.Workload, opts)
	for _, p := range ps {
		if reason := p.missReason(e); reason != "" {
			out.Ignored = append(out.Ignored, policylist.Ignored(p, reason))
			continue
		}
		for _, s := range p.specs {
			if !s.subject.selects(e) {
				continue
			}
			out.Deny, out.Allow = append(out.Deny, s.deny...), append(out.Allow, s.allow...)
			out.DefaultDeny = out.DefaultDeny || s.defaultDeny
			if len(s.egress) > 0 {
				out.Ignored = append(out.Ignored, policylist.Ignored(p, s.field+" has rules of egress: they are about calls of the workload, and no part of this proof"))
			}
		}
	}
	return out
}

// selects reports whether one of the specs selects the endpoint.
func (p Policy) selects(of identity) bool {
	return slices.ContainsFunc(p.specs, func(s spec) bool { return s.subject.selects(of) })
}

// missReason says why the policy selects another endpoint, "" where it selects this one.
func (p Policy) missReason(of identity) string {
	reason := "it selects nodes, and no inbound is one"
	for i, s := range p.specs {
		first := capability.FirstMiss(s.misses(of))
		if first == nil {
			return ""
		}
		if i == 0 {
			reason = first()
		}
	}
	return reason
}

// misses returns the requirements that the endpoint does not meet, the namespace first.
func (s spec) misses(of identity) iter.Seq[capability.Miss] {
	return func(yield func(capability.Miss) bool) {
		for _, r := range slices.Backward(s.subject.requirements) {
			if !r.meets(of) && !yield(r.miss(of)) {
				return
			}
		}
	}
}

// miss is the requirement as one that the endpoint does not meet.
func (r requirement) miss(of identity) capability.Miss {
	request := func() string { return "the label " + r.wants() }
	if r.isOutside() {
		return capability.Miss{Reason: func() string { return "the policy asks for " + request() + ", " + leavesOut }}
	}
	found, ok := of.label(r.key)
	return capability.LabelMiss(request, strings.Join(r.values, ""), found, ok)
}

// wants says what the requirement asks for.
func (r requirement) wants() string {
	switch r.operator {
	case labelselector.Exists:
		return r.key
	case labelselector.DoesNotExist:
		return r.key + " to be absent"
	default:
		return fmt.Sprintf("%s %s %q", r.key, strings.ToLower(r.operator), r.values)
	}
}

// nearest returns the workload that a spec of the policy comes nearest to, and the first requirement
// that it does not meet.
func (p Policy) nearest(inbounds []policy.Inbound, identities []identity) (w policy.Workload, reason string) {
	type candidate struct {
		workload policy.Workload
		misses   iter.Seq[capability.Miss]
	}
	var candidates []candidate
	for i, in := range inbounds {
		for _, s := range p.specs {
			candidates = append(candidates, candidate{in.Workload, s.misses(identities[i])})
		}
	}
	nearest, reason := capability.Nearest(candidates, func(c candidate) iter.Seq[capability.Miss] { return c.misses })
	return nearest.workload, reason
}
