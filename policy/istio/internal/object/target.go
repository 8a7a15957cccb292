package object

import (
	"maps"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/policy"
)

// Reach is which workloads an object is about: those of its namespace, or of all namespaces where
// it is of the root namespace, with some labels.
type Reach struct {
	Namespace, Root string
	Labels          map[string]string
}

// Target completes a target with how an inbound gets into the reach of its object.
func (r Reach) Target(t capability.Target) capability.Target {
	t.Fit, t.Vary = r.fit, r.vary
	return t
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
