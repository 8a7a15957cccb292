package scope

import (
	"fmt"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/resource"
	"github.com/meshproof/meshproof/policy/kuma/internal/target"
)

// Unstated names a label that the target asks for, that a control plane computes, and that the workload does not
// state; "" where there is none, or where something else keeps the policy from the inbound. Every label whose domain
// is Kuma's may be computed.
func (s Selector) Unstated(in *policy.Inbound) string {
	if s.Target.Kind != target.Dataplane {
		return ""
	}
	known, unstated := *s.Target, ""
	known.Labels = []target.Label{}
	for _, label := range s.Target.Labels {
		if _, stated := in.Workload.Labels[label.Key]; !stated && resource.IsComputed(label.Key) && WorkloadLabel(&in.Workload, label.Key) == "" {
			unstated = label.Key
		} else {
			known.Labels = append(known.Labels, label)
		}
	}
	if s.Target = &known; unstated == "" || s.Miss(in) != nil {
		return ""
	}
	return fmt.Sprintf("targetRef.labels asks for %s, which a control plane computes, and the workload %s does not state the label: write it into the labels of the Dataplane", unstated, in.Workload.Name)
}
