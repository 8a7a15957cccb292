package authorization

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// target checks the targetRef, of which there is one, and returns its selector.
func (p Policy) target() (labels.Selector, error) {
	const field = "spec.targetRefs"
	refs := p.resource.Spec.TargetRefs
	if len(refs) == 0 {
		return nil, p.doc.Errorf(field, "a target is required: write {kind: Pod, selector: {}} for all pods of the namespace")
	}
	for i, ref := range refs {
		if err := p.checkTarget(item(field, i), ref); err != nil {
			return nil, err
		}
	}
	if len(refs) > 1 {
		return nil, p.doc.Errorf(item(field, 1), "kind Pod allows one targetRef: write one selector, or one policy for each")
	}
	return p.parseSelector(item(field, 0)+".selector", *refs[0].Selector)
}

func (p Policy) checkTarget(field string, ref TargetRef) error {
	group := ""
	if ref.Group != nil {
		group = *ref.Group
	}
	switch {
	case ref.Kind == "":
		return p.doc.Errorf(field+".kind", "the kind is missing: write Pod")
	case ref.Kind != kindPod && ref.Selector != nil:
		return p.doc.Errorf(field+".selector", "kind %s takes no selector: only pods are selected by labels", ref.Kind)
	case ref.Kind != kindPod:
		return p.doc.Errorf(field+".kind", "%q is not supported: at level %s only pods are targets, write kind: Pod and a selector", ref.Kind, levelNetwork)
	case group != "" && group != "core":
		return p.doc.Errorf(field+".group", "kind Pod is of the core group, not of %q: leave the group out", group)
	case ref.Name != nil && *ref.Name != "":
		return p.doc.Errorf(field+".name", "pods are not targeted by name: write a selector")
	case ref.Selector == nil:
		return p.doc.Errorf(field+".selector", "the selector is missing: write {} for all pods of the namespace")
	}
	return nil
}

// operators has the operators of a Kubernetes label selector. apimachinery has more.
var operators = map[string]selection.Operator{
	"In": selection.In, "NotIn": selection.NotIn, "Exists": selection.Exists, "DoesNotExist": selection.DoesNotExist,
}

// parseSelector reads a selector. Its requirements keep their order, labels first.
func (p Policy) parseSelector(field string, s LabelSelector) (labels.Selector, error) {
	selector := labels.NewSelector()
	for _, key := range slices.Sorted(maps.Keys(s.MatchLabels)) {
		r, err := labels.NewRequirement(key, selection.Equals, []string{s.MatchLabels[key]})
		if err != nil {
			return nil, p.doc.Errorf(fmt.Sprintf("%s.matchLabels[%q]", field, key), "%v", err)
		}
		selector = selector.Add(*r)
	}
	for i, e := range s.MatchExpressions {
		at := item(field+".matchExpressions", i)
		operator, known := operators[e.Operator]
		takesValues := operator == selection.In || operator == selection.NotIn
		switch {
		case !known:
			return nil, p.doc.Errorf(at+".operator", "%q is no operator: use In, NotIn, Exists or DoesNotExist", e.Operator)
		case takesValues && len(e.Values) == 0:
			return nil, p.doc.Errorf(at+".values", "operator %s needs one value at least", e.Operator)
		case !takesValues && len(e.Values) > 0:
			return nil, p.doc.Errorf(at+".values", "operator %s takes no values: leave them out", e.Operator)
		}
		r, err := labels.NewRequirement(e.Key, operator, e.Values)
		if err != nil {
			return nil, p.doc.Errorf(at, "%v", err)
		}
		selector = selector.Add(*r)
	}
	return selector, nil
}

// expression prints the selector as kubectl describe does.
func (s LabelSelector) expression() string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(s.MatchLabels)) {
		parts = append(parts, key+": "+s.MatchLabels[key])
	}
	for _, e := range s.MatchExpressions {
		part := e.Key + " " + e.Operator
		if len(e.Values) > 0 {
			part += " (" + strings.Join(e.Values, ", ") + ")"
		}
		parts = append(parts, part)
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
