package object

import "github.com/meshproof/meshproof/internal/labelselector"

// Selector selects by labels.
type Selector = labelselector.Selector

// CheckSelector refuses what Kubernetes refuses of a selector, and a list of values where the operator takes none: with an empty
// one Linkerd selects nothing, and no API server refuses it (Expression of linkerd2, policy-controller/k8s/api).
func (r *Reader) CheckSelector(field string, s Selector) {
	for i, e := range s.MatchExpressions {
		if e.Values != nil && len(e.Values) == 0 && (e.Operator == labelselector.Exists || e.Operator == labelselector.DoesNotExist) {
			r.Refuse(Item(field+".matchExpressions", i)+".values", "Linkerd selects nothing by %s beside a list, even an empty one: leave the list out", e.Operator)
		}
	}
	s.Check(field, r.Refuse, func(field string, e labelselector.Expression) {
		labelselector.CheckKey(field, e.Key, r.Refuse)
		labelselector.CheckValues(field, e.Values, r.Refuse)
	})
}
