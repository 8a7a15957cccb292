package lab

import (
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/internal/dialects"
	"github.com/meshproof/meshproof/policy/manifest"
)

// OpenPolicies reads the policies of a file or folder, such as the deployed ones. Cases
// and Dataplanes beside them are passed over. It is an error if there is no policy.
func OpenPolicies(path string) (*Files, error) {
	files, err := Open(Choice{}, path)
	if err == nil {
		files.TakeRouting()
	}
	if err == nil && len(files.Policies) == 0 {
		err = fmt.Errorf("%s: there is no policy", path)
	}
	return files, err
}

// ReplacePolicies gives all cases the policies of a file or folder.
func (f *Files) ReplacePolicies(path string) error {
	deployed, err := OpenPolicies(path)
	if err == nil {
		f.Others, f.deployed, f.root = append(f.Others, deployed.Others...), deployed.All(), path
	}
	for i := range f.Cases {
		if err == nil {
			f.Cases[i], err = WithPolicies(f.Cases[i], f.deployed)
		}
	}
	return err
}

// All are the policies, with the routes and timeouts, and without the services: a case has services of its own.
func (f *Files) All() []manifest.Document {
	return slices.Concat(f.Policies, slices.DeleteFunc(slices.Clone(f.Routing), isService))
}

// isService reports whether a document is a service that requests are sent to: it sends none itself.
func isService(doc manifest.Document) bool {
	_, sends := doc.Lookup("spec.to")
	return dialects.RouterOf(doc) != nil && !sends
}

// WithPolicies returns the case with other policies than its own, and with other routes and timeouts where it
// has services. A case that expects its own policies to be refused is an error.
func WithPolicies(c cases.Case, policies []manifest.Document) (cases.Case, error) {
	if c.ExpectError != "" {
		return c, fmt.Errorf("%s: case %q expects its own policies to be refused, which says nothing of others: leave it out by --case", c.Place, c.Name)
	}
	isRouting := func(doc manifest.Document) bool { return dialects.RouterOf(doc) != nil }
	if services := slices.DeleteFunc(slices.Clone(c.Routing), func(doc manifest.Document) bool { return !isService(doc) }); len(services) > 0 {
		c.Routing = slices.Concat(services, slices.DeleteFunc(slices.Clone(policies), func(doc manifest.Document) bool { return !isRouting(doc) }))
	}
	c.Deployed = true
	c.Policies, c.Source = slices.DeleteFunc(slices.Clone(policies), isRouting), casefile.WithPolicies(c.Source, policies)
	return c, nil
}
