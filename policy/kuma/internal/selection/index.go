package selection

import (
	"slices"
	"strings"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/kuma/internal/scope"
	"github.com/meshproof/meshproof/policy/kuma/internal/target"
)

// Index finds the policies that may apply to an inbound by the first label that each asks
// for, so that the cost for one inbound does not grow with the policies of other workloads.
type Index struct {
	policies []permission.Policy
	// byLabel has the policies of a first label, open all others. Both have indexes.
	byLabel map[target.Label][]int
	open    []int
	// computed are the labels of the policies that a control plane computes for a workload.
	computed []string
}

// NewIndex indexes policies.
func NewIndex(ps []permission.Policy) *Index {
	x := &Index{policies: ps, byLabel: map[target.Label][]int{}}
	for i := range ps {
		t := &ps[i].Target
		// A workload without a label has the empty value of it.
		if t.Kind > target.Dataplane || len(t.Labels) == 0 || t.Labels[0].Value == "" {
			x.open = append(x.open, i)
			continue
		}
		first := t.Labels[0]
		x.byLabel[first] = append(x.byLabel[first], i)
		if strings.Contains(first.Key, "kuma.io/") && !slices.Contains(x.computed, first.Key) {
			x.computed = append(x.computed, first.Key)
		}
	}
	return x
}

// Candidates returns the policies that may apply to the inbound, in their order. The others
// do not.
func (x *Index) Candidates(in policy.Inbound) []permission.Policy {
	found := slices.Clone(x.open)
	w := &in.Workload
	for key, value := range w.Labels {
		found = append(found, x.byLabel[target.Label{Key: key, Value: value}]...)
	}
	for _, key := range x.computed {
		if _, has := w.Labels[key]; !has {
			found = append(found, x.byLabel[target.Label{Key: key, Value: scope.WorkloadLabel(w, key)}]...)
		}
	}
	slices.Sort(found)
	out := make([]permission.Policy, len(found))
	for k, i := range found {
		out[k] = x.policies[i]
	}
	return out
}
