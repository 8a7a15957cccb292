package cases

import (
	"errors"
	"fmt"

	"github.com/meshproof/meshproof/policy/manifest"
)

// strangeError refuses documents that are no cases, such as policies, all at once.
type strangeError struct {
	first manifest.Document
	count int
}

// Error names the first of the documents, how many more there are, and what to do.
func (e *strangeError) Error() string {
	text := "this is no case"
	if e.count > 1 {
		text = fmt.Sprintf("this is no case, nor are %d other documents", e.count-1)
	}
	return "cases: " + e.first.Errorf("", "%s: put a policy under policies: of a case, or give its file to prove or explain", text).Error()
}

// joined joins the errors, those of strange documents as one.
func joined(errs []error) error {
	var strange *strangeError
	var out []error
	var add func(error)
	add = func(err error) {
		if several, ok := err.(interface{ Unwrap() []error }); ok {
			for _, one := range several.Unwrap() {
				add(one)
			}
			return
		}
		if one := (*strangeError)(nil); !errors.As(err, &one) {
			out = append(out, err)
		} else if strange == nil {
			strange = &strangeError{one.first, one.count}
			out = append(out, strange)
		} else {
			strange.count += one.count
		}
	}
	for _, err := range errs {
		add(err)
	}
	return errors.Join(out...)
}
