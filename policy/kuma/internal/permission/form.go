package permission

import (
	"errors"

	"github.com/meshproof/meshproof/policy/manifest"
)

// form is the way in which a rule is written. Each form is read by some options
// only; what it means does not depend on the option.
type form uint8

const (
	// empty is a rule without effect, which every option reads.
	empty form = iota
	// lists is a rule of deny, allowWithShadowDeny and allow: Options 1 and 2.
	lists
	// conditions is a rule of conditions and an action: Option 3.
	FormConditions
)

// CheckForms refuses each policy that is written in a form which the chosen
// option does not read: conditions are of Option 3, lists of the others, and more
// than one item of rules is of Option 1. All errors are joined, one line each.
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
		case r.Form == lists && option == Option3:
			return p.Doc.Errorf(r.Field, "%s has conditions instead of lists: choose option1, or rewrite the policy with meshproof convert --to %[1]s", option)
		case r.Form == lists:
			items++
		}
		if items > 1 && option == Option2 {
			return p.Doc.Errorf(r.Field, "%s has a single item: choose option1, or rewrite the policy with meshproof convert --to %[1]s", option)
		}
	}
	return nil
}

// formOf tells the form of an item of rules and refuses a mixture of two.
func formOf(doc manifest.Document, field string, item ruleSchema) (form, error) {
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
		return empty, doc.Errorf(field+".default."+list, "must not be set beside conditions: conditions go with an action, lists go without them")
	case conf.Action != nil && list != "":
		return empty, doc.Errorf(field+".default.action", "must not be set beside %s: write an action, or lists", list)
	case item.Conditions != nil && conf.Action == nil:
		return empty, doc.Errorf(field+".default.action", "the action is missing: use Deny, Allow or AllowWithShadowDeny")
	case conf.Action != nil:
		return FormConditions, nil
	case list != "":
		return lists, nil
	default:
		return empty, nil
	}
}
