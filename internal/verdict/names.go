package verdict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/policy/language"
)

// fullNames gives the requests and counters of the case the full names of policies, under
// which Envoy reports them, in place of plain names. A plain name of several is an error. A
// name that no policy has is left as it is, and no evidence will meet it.
func fullNames(c *cases.Case, set language.Policies) error {
	namer, ok := set.(capability.Namer)
	if !ok {
		return nil
	}
	known := map[string][]string{}
	full := func(place, name string) (string, error) {
		// No rule matched; a policy may have the same name.
		if name == "default" || name == "" {
			return name, nil
		}
		names, ok := known[name]
		if !ok {
			names = namer.FullNames(name)
			known[name] = names
		}
		switch len(names) {
		case 0:
			return name, nil
		case 1:
			return names[0], nil
		default:
			return "", fmt.Errorf("%s: %q is the plain name of several: use one of %s", place, name, strings.Join(names, ", "))
		}
	}
	c.Requests, c.Counters = slices.Clone(c.Requests), slices.Clone(c.Counters)
	for i := range c.Requests {
		q := &c.Requests[i]
		for field, by := range map[string]**string{"by": &q.By, "shadowBy": &q.ShadowBy} {
			if *by == nil {
				continue
			}
			name, err := full(q.Place+"."+field, **by)
			if err != nil {
				return err
			}
			*by = &name
		}
	}
	c.RoutedRequests = slices.Clone(c.RoutedRequests)
	for i := range c.RoutedRequests {
		p := &c.RoutedRequests[i]
		if p.By == nil {
			continue
		}
		name, err := full(p.Place+".by", *p.By)
		if err != nil {
			return err
		}
		p.By = &name
	}
	for i := range c.Counters {
		of := &c.Counters[i]
		name, err := full(fmt.Sprintf("%s: counters of %s: rules", c.Place, of.Inbound), of.Rule)
		if err != nil {
			return err
		}
		of.Rule = name
	}
	return nil
}
