package permission

import (
	"errors"

	"github.com/meshproof/meshproof/policy/manifest"
)

// Form is the way in which a rule is written. Each option reads some forms only. The
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
