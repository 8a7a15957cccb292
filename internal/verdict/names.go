package verdict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/policy/language"
)

// fullNames returns the requests with the full names of policies, under which Envoy reports
// them, in place of plain names. A plain name of several is an error. A name that no policy
// has is left as it is, and no evidence will meet it.
func fullNames(requests []cases.Request, set language.Policies) ([]cases.Request, error) {
	namer, ok := set.(capability.Namer)
	if !ok {
		return requests, nil
	}
	full := map[string][]string{}
	out := slices.Clone(requests)
	for i := range out {
		for field, by := range map[string]**string{"by": &out[i].By, "shadowBy": &out[i].ShadowBy} {
			// No rule matched; a policy may have the same name.
			if *by == nil || **by == "default" {
				continue
			}
			name := **by
			names, known := full[name]
			if !known {
				names = namer.FullNames(name)
				full[name] = names
			}
			switch len(names) {
			case 0:
			case 1:
				*by = &names[0]
			default:
				return nil, fmt.Errorf("%s.%s: %q is the plain name of several: use one of %s", out[i].Place, field, name, strings.Join(names, ", "))
			}
		}
	}
	return out, nil
}
