package lab

import (
	"regexp"

	"github.com/meshproof/meshproof/cases"
)

// Choice says which cases are meant, as the value of a flag.
type Choice struct {
	// Pattern has to match the name or the story of a case; nil matches every case.
	Pattern *regexp.Regexp
	// WorkloadsOnly is true where only the workloads of a case count, so that a case alone in its file
	// needs no request.
	WorkloadsOnly bool
}

// Matches reports whether the case is chosen.
func (c Choice) Matches(one cases.Case) bool {
	return c.Pattern == nil || c.Pattern.MatchString(one.Name) || c.Pattern.MatchString(one.Story)
}

// Set reads a regular expression.
func (c *Choice) Set(text string) (err error) {
	c.Pattern, err = regexp.Compile(text)
	return err
}

// String returns the regular expression, "" for none.
func (c *Choice) String() string {
	if c.Pattern == nil {
		return ""
	}
	return c.Pattern.String()
}

// Type is what a user writes.
func (*Choice) Type() string { return "regexp" }
