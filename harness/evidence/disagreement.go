package evidence

import (
	"fmt"
	"strings"
)

// Disagreement is the error of evidence whose sides contradict each other. The form is the
// form that the caller's answer suggests.
type Disagreement struct {
	Form  Form
	Sides []string
}

// Error lists the sides that contradict the form.
func (d *Disagreement) Error() string {
	return fmt.Sprintf("evidence: it looks %s, but %s", d.Form, strings.Join(d.Sides, "; "))
}

type checklist []string

func (c *checklist) want(ok bool, format string, args ...any) {
	if !ok {
		*c = append(*c, fmt.Sprintf(format, args...))
	}
}
