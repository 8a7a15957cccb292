package update

import (
	"reflect"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/policyset/choice"
	"github.com/meshproof/meshproof/internal/policyset/tree"
)

// exchange lets two parts of a set change places: two values of one field, the specs of two policies, or the values of two
// labels of a workload. All words of the set stay, so that a key which sorts them, or adds up what each part gives, stays too.
func (u *update) exchange(c *cases.Case) bool {
	kinds := []func(*cases.Case) bool{u.values, u.specs, u.labelValues}
	for _, kind := range choice.Shuffled(u.Chooser, kinds) {
		if kind(c) {
			return true
		}
	}
	return false
}

// part is a part of a set, and what puts another value in its place.
type part struct {
	value any
	set   func(any)
}

// swap lets two different ones of the parts change places, false where all are alike.
func (u *update) swap(parts []part) bool {
	parts = choice.Shuffled(u.Chooser, parts)
	for _, other := range parts[min(1, len(parts)):] {
		if !reflect.DeepEqual(parts[0].value, other.value) {
			parts[0].set(other.value)
			other.set(parts[0].value)
			return true
		}
	}
	return false
}

// values exchanges two texts or numbers that stand under one key, of one policy or of two.
func (u *update) values(*cases.Case) bool {
	byKey := map[string][]part{}
	for _, p := range u.policies {
		of, _ := p.(map[string]any)
		for _, key := range []string{"spec", "specs"} {
			partsIn(key, of[key], func(v any) { of[key] = v }, byKey)
		}
	}
	for _, key := range choice.Shuffled(u.Chooser, tree.Keys(byKey)) {
		if u.swap(byKey[key]) {
			return true
		}
	}
	return false
}

// partsIn collects the texts and the numbers in a value by the key that they stand under.
func partsIn(key string, v any, set func(any), to map[string][]part) {
	switch v := v.(type) {
	case string, float64:
		to[key] = append(to[key], part{v, set})
	case []any:
		for i := range v {
			partsIn(key, v[i], func(item any) { v[i] = item }, to)
		}
	case map[string]any:
		for _, inner := range tree.Keys(v) {
			partsIn(inner, v[inner], func(value any) { v[inner] = value }, to)
		}
	}
}

// specs exchanges the specs of two policies of one kind, whose names and ages stay.
func (u *update) specs(*cases.Case) bool {
	byKind := map[string][]part{}
	for _, p := range u.policies {
		of, _ := p.(map[string]any)
		if of["spec"] != nil {
			kind, _ := of["kind"].(string)
			byKind[kind] = append(byKind[kind], part{of["spec"], func(v any) { of["spec"] = v }})
		}
	}
	for _, kind := range choice.Shuffled(u.Chooser, tree.Keys(byKind)) {
		if u.swap(byKind[kind]) {
			return true
		}
	}
	return false
}

// labelValues exchanges the values of two labels of a workload.
func (u *update) labelValues(c *cases.Case) bool {
	of := c.Inbounds[u.Choose(len(c.Inbounds))].Workload
	labels := map[string]string{}
	var parts []part
	for _, key := range tree.Keys(of.Labels) {
		labels[key] = of.Labels[key]
		parts = append(parts, part{of.Labels[key], func(v any) { labels[key], _ = v.(string) }})
	}
	if !u.swap(parts) {
		return false
	}
	relabel(c, of.Name, labels)
	return true
}
