package permission

import (
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/manifest"
)

// parseItem reads an item of rules in either form.
func parseItem(doc manifest.Document, field string, item ruleSchema) (rule, error) {
	form, err := formOf(doc, field, item)
	switch {
	case err != nil:
		return rule{}, err
	case form == conditions:
		return parseConditions(doc, field, item)
	default:
		return parseRule(doc, field+".default", item.Default)
	}
}

// parseConditions reads an item of Option 3. The conditions are ORed. Absent, they
// leave nothing to be met: the rule applies to every request, as an item of rules
// without matches does in every inbound policy. An empty list is met by nobody.
func parseConditions(doc manifest.Document, field string, item ruleSchema) (rule, error) {
	l := list(slices.Index(actions[:], *item.Default.Action))
	r := rule{form: conditions, field: field}
	r.written[l] = true
	if item.Conditions == nil {
		r.lists[l] = []matcher{{field: field, when: policy.Always}}
		return r, nil
	}
	for i, condition := range *item.Conditions {
		m, err := parseMatcher(doc, fmt.Sprintf("%s.conditions[%d]", field, i), condition)
		if err != nil {
			return rule{}, err
		}
		r.lists[l] = append(r.lists[l], m)
	}
	return r, nil
}

// checkOneForm refuses a policy of which no option reads all rules.
func checkOneForm(doc manifest.Document, rules []rule) error {
	first := empty
	for _, r := range rules {
		switch {
		case first == empty:
			first = r.form
		case r.form != empty && r.form != first:
			return doc.Errorf(r.field, "lists and conditions must not stand in one policy: no option reads both")
		}
	}
	return nil
}

// lintConditions warns of a rule of Option 3 that applies to nobody, or to
// everybody.
func (p *Policy) lintConditions(r rule) []policy.Warning {
	for l, matchers := range r.lists {
		switch {
		case !r.written[l]:
		case len(matchers) == 0:
			return []policy.Warning{p.warn(r.field+".conditions", "the list is empty: the rule has no effect")}
		case matchers[0].when == policy.Always:
			return []policy.Warning{p.warn(r.field, "without conditions the rule applies to every request: its %s is for everybody", list(l))}
		}
	}
	return nil
}
