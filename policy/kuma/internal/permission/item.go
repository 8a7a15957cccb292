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

// parseConditions reads an item of Option 3. The conditions are ORed. Absent, they
// leave nothing to be met: the rule applies to every request, as an item of rules
// without matches does in every inbound policy. An empty list is met by nobody.
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

// checkOneForm refuses a policy of which no option reads all rules.
func checkOneForm(doc manifest.Document, rules []Rule) error {
	first := empty
	for _, r := range rules {
		switch {
		case first == empty:
			first = r.Form
		case r.Form != empty && r.Form != first:
			return doc.Errorf(r.Field, "lists and conditions must not stand in one policy: no option reads both")
		}
	}
	return nil
}
