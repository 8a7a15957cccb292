package permission

import (
	"errors"
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/policy"
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

// Form says how a rule is written. Each option reads some forms only. The
// meaning of a form does not depend on the option.
type Form uint8

// The forms.
const (
	// FormEmpty is a rule without effect. Every option reads it.
	FormEmpty Form = iota
	// FormLists is a rule of deny, allowWithShadowDeny and allow: Options 1 and 2.
	FormLists
	// FormConditions is a rule of conditions and an action: Option 3.
	FormConditions
)

// CheckForms refuses each policy in a form that the chosen option does not read.
// Option 3 reads conditions, and the others read lists. Only Option 1 reads more than
// one item of rules. All errors are joined, one line each.
func CheckForms(ps []Policy, opts Options) error {
	var errs []error
	for i := range ps {
		if err := ps[i].checkForm(opts.Option); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (p *Policy) checkForm(option Option) error {
	items := 0
	for _, r := range p.Rules {
		switch {
		case r.Form == FormConditions && option != Option3:
			return p.Doc.Errorf(r.Field+".conditions", "%s has lists instead of conditions: choose option3, or rewrite the policy with meshproof convert --to %[1]s", option)
		case r.Form == FormLists && option == Option3:
			return p.Doc.Errorf(r.Field, "%s has conditions instead of lists: choose option1, or rewrite the policy with meshproof convert --to %[1]s", option)
		case r.Form == FormLists:
			items++
		}
		if items > 1 && option == Option2 {
			return p.Doc.Errorf(r.Field, "%s has a single item: choose option1, or rewrite the policy with meshproof convert --to %[1]s", option)
		}
	}
	return nil
}

// formOf returns the form of an item of rules. A mixture of two forms is an error.
func formOf(doc manifest.Document, field string, item ruleSchema) (Form, error) {
	conf := item.Default
	list := ""
	for l, matchers := range conf.lists() {
		if matchers != nil {
			list = ListNames[l]
			break
		}
	}
	switch {
	case item.Conditions != nil && list != "":
		return FormEmpty, doc.Errorf(field+".default."+list, "must not be set beside conditions: conditions go with an action, lists go without them")
	case conf.Action != nil && list != "":
		return FormEmpty, doc.Errorf(field+".default.action", "must not be set beside %s: write an action, or lists", list)
	case item.Conditions != nil && conf.Action == nil:
		return FormEmpty, doc.Errorf(field+".default.action", "the action is missing: use Deny, Allow or AllowWithShadowDeny")
	case conf.Action != nil:
		return FormConditions, nil
	case list != "":
		return FormLists, nil
	default:
		return FormEmpty, nil
	}
}
