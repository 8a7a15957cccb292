package matrix

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/terminal"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Choice says which cases of files are run.
type Choice struct {
	lab.Choice
	// Policies replace those of the cases; nil leaves the cases as they are.
	Policies  []manifest.Document
	Selection Selection
	// Read reads the policies of a case.
	Read func(cases.Case) (*verdict.Reading, error)
}

// Load reads the cases of the files, the built-in ones without a path, and returns those that
// the choice leaves. It refuses bad policies before an Envoy is started for them. Its error
// joins the errors of all cases.
func (c Choice) Load(paths ...string) ([]cases.Case, error) {
	open := cases.Stories
	if len(paths) > 0 {
		open = func() ([]cases.Case, error) { return cases.Load(paths...) }
	}
	all, err := open()
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: name a case file, or a folder with some", err)
	}
	if err != nil {
		return nil, err
	}
	var chosen []cases.Case
	var errs []error
	for _, one := range all {
		if !c.Matches(one) {
			continue
		}
		if c.Policies != nil {
			one, err = lab.WithPolicies(one, c.Policies)
			errs = append(errs, err)
		}
		chosen = append(chosen, one)
		if reason, _ := c.Selection.Skip(one); one.ExpectError == "" && reason == "" {
			// Policies that only one inbound refuses are a result of the case.
			if _, err := c.Read(one); !errors.As(err, new(*verdict.InboundError)) {
				errs = append(errs, err)
			}
		}
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("--case: none of %s has a name or story that matches %q", terminal.Count(len(all), "case"), c.Pattern)
	}
	return chosen, errors.Join(errs...)
}
