package lift

import (
	"strconv"

	"github.com/meshproof/meshproof/internal/endpoint"
	"github.com/meshproof/meshproof/internal/messages"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// allPorts is one more than the highest port.
const allPorts = 1 << 16

// portIn compares the port of the inbound with ports from the first one to the one behind the
// last. The port decides the comparison where it is known.
func (t *translator) portIn(first, behind int) reading {
	first, behind = max(first, 0), min(behind, allPorts)
	switch {
	case t.port != 0:
		return exactly(policy.Constant(first <= int(t.port) && int(t.port) < behind))
	case first >= behind:
		return exactly(policy.Never)
	case behind-first == allPorts:
		return exactly(policy.Always)
	case behind-first == 1:
		return exactly(attribute.DestinationPort.Exact(strconv.Itoa(first)))
	default:
		text := endpoint.PortsText(uint16(first), uint16(behind-1))
		return exactly(policy.Is{Attribute: attribute.DestinationPort, Match: policy.Match{Kind: policy.Range, Value: text}})
	}
}

// portText compares the text of the port. There are few ports, so that each of them is
// compared.
func (t *translator) portText(of text, at *messages.Path) reading {
	if of.reason != "" {
		return t.unsaid(at, of.reason)
	}
	if t.port != 0 {
		return t.constant(of, at, strconv.Itoa(int(t.port)))
	}
	var ranges []reading
	first := -1
	for port := range allPorts + 1 {
		switch matched := port < allPorts && of.matches(strconv.Itoa(port)); {
		case matched && first < 0:
			first = port
		case !matched && first >= 0:
			ranges = append(ranges, t.portIn(first, port))
			first = -1
		}
	}
	return anyOf(ranges)
}
