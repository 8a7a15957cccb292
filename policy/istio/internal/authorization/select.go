package authorization

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/spelling"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/istio/internal/object"
)

// Selection is what applies to one inbound, and what does not.
type Selection struct {
	// Policies are in the order of their names.
	Policies []Policy
	Ignored  []Ignored
}

// Ignored is a policy that does not apply, with the reason.
type Ignored struct {
	Policy Policy
	Reason string
}

// Select returns the policies that apply to the workload of the inbound. A policy applies to
// all inbounds of a workload or to none. Ignored keeps the order of ps; nothing else of the
// result depends on it.
func Select(ps []Policy, in policy.Inbound, opts Options) Selection {
	var sel Selection
	for _, p := range ps {
		if reason := p.missReason(in.Workload, opts); reason != "" {
			sel.Ignored = append(sel.Ignored, Ignored{Policy: p, Reason: reason})
			continue
		}
		sel.Policies = append(sel.Policies, p)
	}
	slices.SortStableFunc(sel.Policies, func(a, b Policy) int { return strings.Compare(a.String(), b.String()) })
	return sel
}

// missReason says why the policy does not apply to the workload, "" where it does.
func (p Policy) missReason(w policy.Workload, opts Options) (reason string) {
	p.eachMiss(w, opts, func(m miss) bool {
		reason = m.reason
		return false
	})
	return reason
}

// miss is a requirement of a policy that a workload does not meet. Edits are how far the
// workload is from it.
type miss struct {
	reason string
	edits  int
}

// eachMiss calls yield for each requirement that the workload does not meet, until yield
// returns false.
func (p Policy) eachMiss(w policy.Workload, opts Options, yield func(miss) bool) {
	own, theirs := p.resource.Metadata.Namespace, cmp.Or(w.Namespace, object.DefaultNamespace)
	if own != opts.RootNamespace && own != theirs &&
		!yield(miss{fmt.Sprintf("it is of namespace %q, the workload of namespace %q", own, theirs), spelling.Distance(own, theirs)}) {
		return
	}
	labels := p.labels()
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		want := labels[key]
		has := "none"
		value, ok := w.Labels[key]
		if ok {
			has = fmt.Sprintf("%q", value)
		}
		if (!ok || value != want) && !yield(miss{fmt.Sprintf("its selector asks for the label %q with value %q, the workload has %s", key, want, has), spelling.Distance(value, want)}) {
			return
		}
	}
}

// labels are the labels that the policy selects by.
func (p Policy) labels() map[string]string { return p.resource.Spec.Selector.Labels() }

// nearest returns the workload that the policy comes nearest to, and the first requirement
// that it does not meet: it misses the fewest, and of several it is the closest.
func (p Policy) nearest(inbounds []policy.Inbound, opts Options) (w policy.Workload, reason string) {
	var least [2]int
	for i, in := range inbounds {
		var own [2]int
		first := ""
		p.eachMiss(in.Workload, opts, func(m miss) bool {
			own[0]++
			own[1] += m.edits
			first = cmp.Or(first, m.reason)
			return true
		})
		if i == 0 || slices.Compare(own[:], least[:]) < 0 {
			w, reason, least = in.Workload, first, own
		}
	}
	return w, reason
}
