package lab

import (
	"errors"
	"fmt"

	"github.com/meshproof/meshproof/internal/terminal"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/dialect"
	"github.com/meshproof/meshproof/policy/language"
)

// Subject is one inbound with the policies that may apply to it.
type Subject struct {
	// Case names the case that the inbound is from; it is empty for policy files.
	Case    string
	Inbound policy.Inbound
	// Set has the policies, Among all inbounds that they are written for.
	Set   language.Policies
	Among []policy.Inbound
	// Normalization is that of the inbound's listener.
	Normalization policy.PathNormalization
}

// Title names the inbound, and its case where it has one.
func (s Subject) Title() string {
	title := fmt.Sprintf("%s (%s)", s.Inbound, s.Inbound.Protocol)
	if s.Case != "" {
		title = terminal.Printable(s.Case) + ": " + title
	}
	return title
}

// Warnings are those that lint has of the policies.
func (s Subject) Warnings() []policy.Warning { return s.Set.Lint(s.Among) }

// Subjects returns the chosen inbounds of the cases. Its error joins those of all
// policies that are refused.
func (f *Files) Subjects(choice Choice) ([]Subject, error) {
	var out []Subject
	var errs []error
	for _, c := range f.Cases {
		set, err := dialect.Parse(c.Policies, c.Options)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		var among []policy.Inbound
		for _, in := range c.Inbounds {
			among = append(among, in.Inbound)
		}
		for _, in := range among {
			if choice.To == "" || choice.To == in.String() {
				out = append(out, Subject{Case: c.Name, Inbound: in, Set: set, Among: among, Normalization: c.Normalization})
			}
		}
	}
	return out, errors.Join(errs...)
}

// Subject returns the inbound of the surroundings, with the policies outside of cases.
func (f *Files) Subject(s Surroundings) (Subject, error) {
	set, err := dialect.Parse(f.Policies, s.Options)
	return Subject{Inbound: s.Inbound, Set: set, Among: []policy.Inbound{s.Inbound}}, err
}
