package object

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/policy"
)

// Reach is which workloads an object is about: those of its namespace, or of all namespaces where
// it is of the root namespace, with some labels.
type Reach struct {
	Namespace, Root string
	Labels          map[string]string
}

// Target is what an object of this reach selects. Its place is that of the object, and missReason says why
// it does not select an inbound.
func (r Reach) Target(of Object, place string, missReason func(policy.Inbound) capability.Reason) capability.Target {
	return capability.Target{
		Policy: of.String(), Name: of.Metadata.Name, Place: place, Key: r.Namespace + " " + fmt.Sprint(r.Labels),
		Miss: missReason, Fit: r.fit, Vary: r.vary,
	}
}

// Misses are the requirements of the object that a workload does not meet: the namespace first, then the
// labels in order.
func (r Reach) Misses(w policy.Workload) iter.Seq[capability.Miss] {
	return func(yield func(capability.Miss) bool) {
		there := cmp.Or(w.Namespace, DefaultNamespace)
		if r.Namespace != r.Root && r.Namespace != there && !yield(capability.PlaceMiss("namespace", r.Namespace, there)) {
			return
		}
		for _, key := range slices.Sorted(maps.Keys(r.Labels)) {
			want := r.Labels[key]
			request := func() string { return fmt.Sprintf("the label %q with value %q", key, want) }
			if found, ok := w.Labels[key]; (!ok || found != want) && !yield(capability.LabelMiss(request, want, found, ok)) {
				return
			}
		}
	}
}

// fit changes the namespace and the labels of the inbound's workload so that the object selects
// it.
func (r Reach) fit(in policy.Inbound) policy.Inbound {
	w := &in.Workload
	if r.Namespace != r.Root {
		w.Namespace = r.Namespace
	}
	labels := map[string]string{}
	maps.Copy(labels, w.Labels)
	maps.Copy(labels, r.Labels)
	w.Labels = labels
	return in
}

// vary returns the inbound in another namespace, which only an object of the root namespace
// reaches.
func (r Reach) vary(in policy.Inbound) []policy.Inbound {
	if r.Namespace == r.Root || in.Workload.Namespace != r.Namespace {
		return nil
	}
	in.Workload.Namespace += "-other"
	return []policy.Inbound{in}
}
