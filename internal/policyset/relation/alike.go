package relation

import (
	"reflect"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/policyset/choice"
	"github.com/meshproof/meshproof/internal/policyset/tree"
)

// longestLabel is the length of the longest label of DNS: some programs cut names there.
const longestLabel = 63

// alikePolicies adds a policy of the same kind and namespace, whose name a compiler may write as that of another one: with a dash in
// the place of a dot, or with the same first 63 characters. It says what some policy of its kind says.
func (m *relation) alikePolicies(c *cases.Case, policies []any) []any {
	all := deciding(policies)
	if len(all) == 0 {
		return policies
	}
	of := choice.Pick(m.Chooser, all...)
	if own := m.fromOwnNamespace(c, all); own != nil {
		of = own
	}
	ofKind := slices.DeleteFunc(slices.Clone(all), func(p map[string]any) bool { return p["kind"] != of["kind"] || p["type"] != of["type"] })
	twin := tree.Clone(choice.Pick(m.Chooser, ofKind...)).(map[string]any)
	kept, other := tree.Metadata(of), tree.Metadata(twin)
	for _, scope := range []string{"namespace", "mesh"} {
		if kept[scope] != nil {
			other[scope] = kept[scope]
		}
	}
	first, second := m.Letters(4), m.Letters(4)
	if m.OneIn(2) {
		kept["name"], other["name"] = first+"."+second, first+"-"+second
	} else {
		begin := m.Letters(longestLabel)
		kept["name"], other["name"] = begin+first, begin+second
	}
	tree.ForgetDisplayName(kept)
	tree.ForgetDisplayName(other)
	at := slices.IndexFunc(policies, func(p any) bool { return reflect.DeepEqual(p, any(of)) })
	if m.OneIn(2) {
		at++
	}
	return slices.Insert(policies, at, any(twin))
}

// alikeItems adds to lists an item that says the same as another one but for one field: a compiler may take two rules from the same
// callers, two blocks of one address, or two matches of one path for one.
func (m *relation) alikeItems(policies []any) {
	lists := tree.SpecLists(policies)
	for _, l := range lists {
		items := slices.Clone(l.Items())
		of, ok := choice.Pick(m.Chooser, items...).(map[string]any)
		if !ok || len(of) < 2 {
			continue
		}
		twin := tree.Clone(of).(map[string]any)
		field := choice.Pick(m.Chooser, tree.Keys(twin)...)
		if !m.vary(twin, field, l.Key, lists) {
			continue
		}
		l.Set(slices.Insert(items, m.Choose(len(items)+1), any(twin)))
	}
}

// vary gives a field another value: one that the field has in another item of such a list, or another item in its own list. It
// reports whether there is one.
func (m *relation) vary(of map[string]any, field, key string, lists []tree.List) bool {
	var values []any
	for _, l := range lists {
		for _, item := range l.Items() {
			if item, ok := item.(map[string]any); ok && l.Key == key && item[field] != nil && !reflect.DeepEqual(item[field], of[field]) {
				values = append(values, item[field])
			}
		}
	}
	if len(values) > 0 && m.OneIn(2) {
		of[field] = tree.Clone(choice.Pick(m.Chooser, values...))
		return true
	}
	switch value := of[field].(type) {
	case []any:
		if len(value) == 0 {
			return false
		}
		m.lengthen(tree.List{Object: of, Key: field}, 1)
		grown, _ := of[field].([]any)
		of[field] = []any{grown[len(grown)-1]}
		return !reflect.DeepEqual(of[field], value)
	case string:
		if strings.HasPrefix(value, "/") {
			of[field] = value + "/" + m.Letters(2)
			return true
		}
	case map[string]any:
		if text, ok := value["value"].(string); ok && text != "" {
			value["value"] = text + "/" + m.Letters(2)
			return true
		}
	}
	return false
}
