// Package labelselector has the selector of labels that Kubernetes objects share: labels that must
// be there, and expressions.
//
// It guarantees that what the API server refuses of a selector is refused, with its field. Which
// labels an object has is the business of its dialect.
package labelselector

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Selector selects by labels: all of MatchLabels and all of MatchExpressions. An empty one selects
// everything.
type Selector struct {
	MatchLabels      map[string]string `yaml:"matchLabels"`
	MatchExpressions []Expression      `yaml:"matchExpressions"`
}

// Expression asks for one label.
type Expression struct {
	Key      string   `yaml:"key"`
	Operator string   `yaml:"operator"`
	Values   []string `yaml:"values"`
}

// The operators of an expression.
const (
	In           = "In"
	NotIn        = "NotIn"
	Exists       = "Exists"
	DoesNotExist = "DoesNotExist"
)

// Requirements returns what the selector asks for, the labels first, in the order of their keys.
func (s Selector) Requirements() (out []Expression) {
	for _, key := range slices.Sorted(maps.Keys(s.MatchLabels)) {
		out = append(out, Expression{key, In, []string{s.MatchLabels[key]}})
	}
	return append(out, s.MatchExpressions...)
}

// Misses returns the requirements that labels do not meet, in order.
func (s Selector) Misses(labels map[string]string) []Expression {
	return slices.DeleteFunc(s.Requirements(), func(e Expression) bool {
		value, found := labels[e.Key]
		return e.Meets(value, found)
	})
}

// Meets reports whether a label with the value, or no such label, is what the expression asks for.
func (e Expression) Meets(value string, found bool) bool {
	switch e.Operator {
	case In:
		return found && slices.Contains(e.Values, value)
	case NotIn:
		return !found || !slices.Contains(e.Values, value)
	case Exists:
		return found
	default:
		return !found
	}
}

// Reason says what the requirement asks for, and what there is.
func (e Expression) Reason(labels map[string]string) string {
	wants := e.Key
	switch e.Operator {
	case In, NotIn:
		wants = fmt.Sprintf("%s %s %q", e.Key, strings.ToLower(e.Operator), e.Values)
	case DoesNotExist:
		wants += " to be absent"
	}
	has := "none"
	if value, found := labels[e.Key]; found {
		has = fmt.Sprintf("%q", value)
	}
	return fmt.Sprintf("the policy asks for the label %s, there is %s", wants, has)
}

// Fit changes as little of labels as makes the selector select them. Where its requirements about a
// label contradict each other, they stay unmet.
func (s Selector) Fit(labels map[string]string) map[string]string {
	for _, e := range s.Misses(labels) {
		all := s.neighbours(labels, e)
		fits := func(labels map[string]string) bool {
			return !slices.ContainsFunc(s.Misses(labels), func(other Expression) bool { return other.Key == e.Key })
		}
		if i := slices.IndexFunc(all, fits); i >= 0 {
			labels = all[i]
		}
	}
	return labels
}

// Vary returns the labels with each value that an expression tells apart, with a value that no
// requirement names, and without the label.
func (s Selector) Vary(labels map[string]string) (out []map[string]string) {
	for _, e := range s.MatchExpressions {
		out = append(out, s.neighbours(labels, e)...)
	}
	return out
}

func (s Selector) neighbours(labels map[string]string, e Expression) (out []map[string]string) {
	var named []string
	for _, r := range s.Requirements() {
		if r.Key == e.Key {
			named = append(named, r.Values...)
		}
	}
	without := maps.Clone(labels)
	delete(without, e.Key)
	for _, value := range append(slices.Clone(e.Values), OtherThan(named)) {
		with := map[string]string{e.Key: value}
		maps.Copy(with, without)
		out = append(out, with)
	}
	return append(out, without)
}

// Refuse takes the refusal of a field.
type Refuse func(field, format string, args ...any)

// Check refuses operators that Kubernetes refuses. It calls label for each requirement in order,
// with the field of its key.
func (s Selector) Check(field string, refuse Refuse, label func(field string, e Expression)) {
	for _, key := range slices.Sorted(maps.Keys(s.MatchLabels)) {
		label(fmt.Sprintf("%s.matchLabels[%q]", field, key), Expression{key, In, []string{s.MatchLabels[key]}})
	}
	for i, e := range s.MatchExpressions {
		at := fmt.Sprintf("%s.matchExpressions[%d]", field, i)
		switch e.Operator {
		case In, NotIn:
			if len(e.Values) == 0 {
				refuse(at+".values", "the operator %s needs a value", e.Operator)
			}
		case Exists, DoesNotExist:
			if len(e.Values) > 0 {
				refuse(at+".values", "the operator %s takes no value", e.Operator)
			}
		default:
			refuse(at+".operator", "%q is unknown: use %s, %s, %s or %s", e.Operator, In, NotIn, Exists, DoesNotExist)
		}
		label(at+".key", e)
	}
}

// CheckKey refuses what is no key of a label.
func CheckKey(field, key string, refuse Refuse) {
	if reasons := validation.IsQualifiedName(key); reasons != nil {
		refuse(field, "%q is no key of a label: %s", key, reasons[0])
	}
}

// CheckValues refuses what is no value of a label.
func CheckValues(field string, values []string, refuse Refuse) {
	for _, value := range values {
		if reasons := validation.IsValidLabelValue(value); reasons != nil {
			refuse(field, "%q is no value of a label: %s", value, reasons[0])
		}
	}
}

// OtherThan returns a value that is none of some. It is a word that selectors of people do not have: a value that is other
// than those of one selector must not be the value of another one by chance.
func OtherThan(some []string) string {
	value := "made-value"
	for slices.Contains(some, value) {
		value += "-2"
	}
	return value
}
