package object

import "github.com/meshproof/meshproof/internal/labelselector"

// Selector selects by labels.
type Selector = labelselector.Selector

// CheckSelector refuses what Kubernetes refuses of a selector.
func (r *Reader) CheckSelector(field string, s Selector) {
	s.Check(field, r.Refuse, func(field string, e labelselector.Expression) {
		labelselector.CheckKey(field, e.Key, r.Refuse)
		labelselector.CheckValues(field, e.Values, r.Refuse)
	})
}
