package lab

import (
	"fmt"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/policy/manifest"
)

// OpenPolicies reads the policies of a file or folder, such as the deployed ones. Cases
// and Dataplanes beside them are passed over. It is an error if there is no policy.
func OpenPolicies(path string) (*Files, error) {
	files, err := Open(Choice{}, path)
	if err == nil && len(files.Policies) == 0 {
		err = fmt.Errorf("%s: there is no policy", path)
	}
	return files, err
}

// ReplacePolicies gives all cases the policies of a file or folder.
func (f *Files) ReplacePolicies(path string) error {
	deployed, err := OpenPolicies(path)
	if err == nil {
		f.Others = append(f.Others, deployed.Others...)
	}
	for i := range f.Cases {
		if err == nil {
			f.Cases[i], err = WithPolicies(f.Cases[i], deployed.Policies)
		}
	}
	return err
}

// WithPolicies returns the case with other policies than its own. A case that
// expects its own policies to be refused is an error.
func WithPolicies(c cases.Case, policies []manifest.Document) (cases.Case, error) {
	if c.ExpectError != "" {
		return c, fmt.Errorf("%s: case %q expects its own policies to be refused, which says nothing of others: leave it out by --case", c.Place, c.Name)
	}
	c.Policies, c.Source = policies, casefile.WithPolicies(c.Source, policies)
	return c, nil
}
