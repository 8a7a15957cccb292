package lab

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/policy"
)

// NoInboundError says that there is no inbound of the chosen name.
type NoInboundError struct {
	Name string
	// Inbounds are the names of all inbounds.
	Inbounds []string
	// Described says which flags describe the workload of the folder that has the name, "" where none has it.
	Described string
}

// mostNamed is how many inbounds an error lists.
const mostNamed = 20

// Error lists the inbounds.
func (e *NoInboundError) Error() string {
	switch {
	case e.Described != "":
		return fmt.Sprintf("there is no inbound %q: %s", e.Name, e.Described)
	case len(e.Inbounds) == 0:
		return fmt.Sprintf("there is no inbound %q, and no other one: leave it out", e.Name)
	}
	names, more := slices.Compact(slices.Clone(e.Inbounds)), ""
	if n := len(names) - mostNamed; n > 0 {
		names, more = names[:mostNamed], fmt.Sprintf(", and %d more", n)
	}
	return fmt.Sprintf("there is no inbound %q: use one of %s%s", e.Name, strings.Join(names, ", "), more)
}

// Choose leaves the cases the inbounds of that name, and drops the other cases. The warnings
// are still about all inbounds. An empty name leaves everything. Where no case has the
// inbound, the error is a [*NoInboundError].
func Choose(all []Case, to string) ([]Case, error) {
	if to == "" {
		return all, nil
	}
	none := &NoInboundError{Name: to}
	var out []Case
	// The warnings of generated cases are told with the first of them.
	among, first := []policy.Inbound{}, -1
	for _, c := range all {
		if c.LintScope == nil {
			c.LintScope = inboundsOf(c)
		}
		if c.Generated {
			among = append(among, c.LintScope...)
			c.LintScope = []policy.Inbound{}
		}
		inbounds, made := c.Inbounds, c.Made
		// A request through a sidecar may need the inbounds that are left out.
		c.Inbounds, c.Made, c.RoutedRequests = nil, nil, nil
		for i, in := range inbounds {
			none.Inbounds = append(none.Inbounds, in.String())
			if in.String() != to {
				continue
			}
			c.Inbounds = append(c.Inbounds, in)
			if made != nil {
				c.Made = append(c.Made, made[i])
			}
		}
		if len(c.Inbounds) == 0 {
			continue
		}
		if c.Generated && first < 0 {
			first = len(out)
		}
		out = append(out, c)
	}
	if len(out) == 0 {
		return nil, none
	}
	if first >= 0 {
		out[first].LintScope = among
	}
	return out, nil
}

func inboundsOf(c Case) []policy.Inbound {
	out := make([]policy.Inbound, len(c.Inbounds))
	for i, in := range c.Inbounds {
		out[i] = in.Inbound
	}
	return out
}
