package permission

import (
	"fmt"

	"github.com/meshproof/meshproof/policy/manifest"
)

func parseRules(doc manifest.Document, spec specSchema) ([]Rule, error) {
	switch {
	case spec.Rules != nil && spec.Default != nil:
		return nil, doc.Errorf("spec.default", "must not be set beside rules: default is short for one item of rules")
	case spec.Rules != nil && spec.From != nil:
		return nil, doc.Errorf("spec.from", "must not be set beside rules: write one or the other")
	case spec.Default != nil && spec.From != nil:
		return nil, doc.Errorf("spec.from", "must not be set beside default: write one or the other")
	case spec.Default != nil && spec.Default.Action != nil:
		return nil, doc.Errorf("spec.default.action", "an action belongs to an item of rules, beside its conditions")
	case spec.Default != nil:
		r, err := parseRule(doc, "spec.default", *spec.Default)
		if err != nil {
			return nil, err
		}
		return []Rule{r}, nil
	case spec.Rules == nil:
		return nil, nil
	}
	rules := make([]Rule, len(*spec.Rules))
	for i, item := range *spec.Rules {
		var err error
		if rules[i], err = parseItem(doc, fmt.Sprintf("spec.rules[%d]", i), item); err != nil {
			return nil, err
		}
	}
	return rules, checkOneForm(doc, rules)
}

func parseRule(doc manifest.Document, field string, conf confSchema) (Rule, error) {
	r := Rule{Field: field}
	for l, items := range conf.lists() {
		if items == nil {
			continue
		}
		r.Form = FormLists
		r.Written[l] = true
		for i, item := range *items {
			m, err := parseMatcher(doc, fmt.Sprintf("%s.%s[%d]", field, List(l), i), item)
			if err != nil {
				return Rule{}, err
			}
			r.Lists[l] = append(r.Lists[l], m)
		}
	}
	return r, nil
}
