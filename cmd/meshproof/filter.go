package main

import (
	"regexp"

	"github.com/meshproof/meshproof/cases"
)

// caseFilter is the value of --case. The zero value matches every case.
type caseFilter struct{ pattern *regexp.Regexp }

// Set implements pflag.Value.
func (f *caseFilter) Set(s string) (err error) {
	f.pattern, err = regexp.Compile(s)
	return err
}

// String implements pflag.Value.
func (f *caseFilter) String() string {
	if f.pattern == nil {
		return ""
	}
	return f.pattern.String()
}

// Type implements pflag.Value.
func (*caseFilter) Type() string { return "regexp" }

func (f *caseFilter) matches(c cases.Case) bool {
	return f.pattern == nil || f.pattern.MatchString(c.Name) || f.pattern.MatchString(c.Story)
}
