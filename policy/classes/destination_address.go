package classes

import (
	"fmt"
	"net/netip"

	"github.com/meshproof/meshproof/internal/destination"
	"github.com/meshproof/meshproof/internal/endpoint"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// destinationSpace is the space of the addresses that callers connect to, of an inbound that may
// have any.
type destinationSpace struct{ addressSpace }

func (destinationSpace) clear(r *policy.Request) { r.Destination = netip.Addr{} }

func (s destinationSpace) put(r *policy.Request, value string) {
	s.clear(r)
	if address, err := endpoint.Address(value); err == nil {
		r.Destination = address
	}
}

func (destinationSpace) natural() string { return "10.64.0.1" }

// arrive gives a request the address that its caller connects to, where a program asked for it.
func (c *Cover) arrive(r *policy.Request) {
	if c.destination.IsValid() {
		r.Destination = destination.Reached(c.destination, r.Source)
	}
}

// toDestination lets the programs know the address that callers connect to. The dimension says
// which of their questions for it no caller meets; it is nil without a question.
func toDestination(on Surface, programs []policy.Program) ([]policy.Program, *Dimension) {
	d := Dimension{Name: "destination address", Attributes: []*policy.Attribute{attribute.DestinationAddress}, Cells: 1}
	seen := map[policy.Match]bool{}
	out := make([]policy.Program, len(programs))
	for i, p := range programs {
		out[i] = destination.Settle(p, on.Destination)
		for m := range destination.Asked(p) {
			if !on.Destination.IsValid() || seen[m] {
				continue
			}
			seen[m] = true
			d.Matchers++
			if destination.Answer(m, on.Destination) == policy.Never {
				d.Unreachable = append(d.Unreachable, Unreachable{fmt.Sprintf("%s %s", d.Name, m), fmt.Errorf("callers connect to %s alone", on.Destination)})
			}
		}
	}
	if d.Matchers == 0 {
		return out, nil
	}
	return out, &d
}
