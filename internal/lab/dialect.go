package lab

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/dialects"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
)

// KeepDialect leaves the policies, routes, timeouts and services of one dialect among those outside of cases.
// [LeaveOut] tells what it takes away.
func (f *Files) KeepDialect(name string) {
	others := func(doc manifest.Document) bool {
		d := dialects.OwnerOf(doc)
		if router, routes := dialects.RouterOf(doc).(language.Dialect); routes {
			d = router
		}
		return d != nil && d.Name() != name
	}
	for _, docs := range []*[]manifest.Document{&f.Policies, (*[]manifest.Document)(&f.Others)} {
		for _, doc := range *docs {
			if others(doc) {
				f.ofOthers = append(f.ofOthers, doc)
			}
		}
		*docs = slices.DeleteFunc(*docs, others)
	}
}

// KeptNothing reports whether there is neither a case nor a policy nor a route, as all are of dialects that [Files.KeepDialect] took away.
func (f *Files) KeptNothing() bool {
	return len(f.ofOthers) > 0 && len(f.Policies) == 0 && !f.hasRouting() && !f.HasCases
}

// CheckDialect refuses policies of several dialects outside of cases.
func (f *Files) CheckDialect() error {
	owners := dialects.OwnersOf(f.Policies)
	if len(owners) < 2 {
		return nil
	}
	var names []string
	for _, d := range owners {
		first := f.Policies[slices.IndexFunc(f.Policies, d.Owns)]
		names = append(names, d.Name()+" ("+first.Place("")+")")
	}
	return fmt.Errorf("%s: there are policies of %s, and what they mean together is not defined: choose those of one by --dialect", f.Name, strings.Join(names, " and "))
}
