package permission

import (
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/manifest"
)

// parseItem reads an item of rules in either form.
func parseItem(doc manifest.Document, field string, item ruleSchema) (Rule, error) {
	form, err := formOf(doc, field, item)
	switch {
	case err != nil:
		return Rule{}, err
	case form == FormConditions:
		return parseConditions(doc, field, item)
	default:
		return parseRule(doc, field+".default", item.Default)
	}
}

// parseConditions reads an item of Option 3. One of its conditions is enough. An item
// without conditions applies to every request, like an item of rules without matches
// in every inbound policy. An item with an empty list applies to none.
func parseConditions(doc manifest.Document, field string, item ruleSchema) (Rule, error) {
	l := List(slices.Index(Actions[:], *item.Default.Action))
	r := Rule{Form: FormConditions, Field: field}
	r.Written[l] = true
	if item.Conditions == nil {
		r.Lists[l] = []Matcher{{Field: field, When: policy.Always}}
		return r, nil
	}
	for i, condition := range *item.Conditions {
		m, err := parseMatcher(doc, fmt.Sprintf("%s.conditions[%d]", field, i), condition)
		if err != nil {
			return Rule{}, err
		}
		r.Lists[l] = append(r.Lists[l], m)
	}
	return r, nil
}

// checkOneForm refuses a policy with rules of two forms: no option reads both.
func checkOneForm(doc manifest.Document, rules []Rule) error {
	first := FormEmpty
	for _, r := range rules {
		switch {
		case first == FormEmpty:
			first = r.Form
		case r.Form != FormEmpty && r.Form != first:
			return doc.Errorf(r.Field, "lists and conditions must not stand in one policy: no option reads both")
		}
	}
	return nil
}
