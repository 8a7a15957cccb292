package capability

import (
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/policy"
)

// OnPorts returns the target on each of the ports, which are in order and above 0, and on a
// port that is none of them. Without any port it returns the target alone.
func (t Target) OnPorts(ports []uint16) []Target {
	if len(ports) == 0 {
		return []Target{t}
	}
	var out []Target
	for _, port := range ports {
		on := t.onPort(fmt.Sprintf("port %d", port), func(uint16) uint16 { return port })
		on.Vary = func(in policy.Inbound) (varied []policy.Inbound) {
			if t.Vary != nil {
				varied = t.Vary(in)
			}
			if in.Port == port {
				in.Port = in.Port%65535 + 1
				varied = append(varied, in)
			}
			return varied
		}
		out = append(out, on)
	}
	return append(out, t.onPort(fmt.Sprintf("a port that is none of %v", ports), func(port uint16) uint16 {
		for port == 0 || slices.Contains(ports, port) {
			port++
		}
		return port
	}))
}

// onPort narrows the target to the inbounds whose port is what the function makes of it.
func (t Target) onPort(phrase string, choose func(uint16) uint16) Target {
	miss, fit := t.Miss, t.Fit
	t.Key += " " + phrase
	t.Miss = func(in policy.Inbound) string {
		if reason := miss(in); reason != "" || choose(in.Port) == in.Port {
			return reason
		}
		return fmt.Sprintf("its rules ask for %s, the inbound has %d", phrase, in.Port)
	}
	t.Fit = func(in policy.Inbound) policy.Inbound {
		in = fit(in)
		in.Port = choose(in.Port)
		return in
	}
	return t
}

// Elsewhere returns the target of a document that nothing in the set can be held against, with the
// reason. Name is the full name of the document, short its own.
func Elsewhere(name, short, place, reason string, inert bool) Target {
	return Target{
		Policy: name, Name: short, Place: place, Key: place, Inert: inert, Elsewhere: reason,
		Miss: func(policy.Inbound) string { return reason },
		Fit:  func(in policy.Inbound) policy.Inbound { return in },
	}
}
