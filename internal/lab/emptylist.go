package lab

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/meshproof/meshproof/internal/dialects"
	"github.com/meshproof/meshproof/policy/language"
)

// takeEmptyList notes the dialect of a file without documents, where it is an empty list of an API server,
// such as an AuthorizationPolicyList of Istio: its API group says of which dialect the policies would be.
// It fails where another empty list is of another dialect.
func (f *Files) takeEmptyList(from file) error {
	var head struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string `yaml:"kind"`
	}
	// A file of another form is no list of an API server.
	if yaml.Unmarshal(from.data, &head) != nil {
		return nil
	}
	group, _, _ := strings.Cut(head.APIVersion, "/")
	name, isList := strings.CutSuffix(head.Kind, "List")
	for _, d := range dialects.Having[language.Dialect]() {
		for _, own := range d.Kinds() {
			of, _, _ := strings.Cut(own.APIVersion, "/")
			switch {
			case !isList || own.Kind != name || of != group:
			case f.emptyOf != "" && f.emptyOf != d.Name():
				return fmt.Errorf("%s: the empty list of %s stands beside an empty list of another dialect (%s): what policies of two dialects mean together is not defined, use one of them", from.path, name, f.emptyOf)
			default:
				f.emptyOf = d.Name()
			}
		}
	}
	return nil
}

// options returns the options that the policies outside of cases are read by. Files with empty lists alone
// are of the dialect of the lists, unless the options name another.
func (f *Files) options(s Surroundings) language.Options {
	o := s.Options
	named := o.Dialect != "" || dialects.OfOptions(o.Document) != ""
	if !named && f.emptyOf != "" && len(f.Policies) == 0 {
		o.Dialect = f.emptyOf
	}
	return o
}
