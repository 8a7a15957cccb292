package lift

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

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

// addressText compares the text of an address.
func (t *translator) addressText(a *policy.Attribute, of text, at *messages.Path) reading {
	return t.each(of, at, func(of alternative) reading {
		_, err := endpoint.Address(of.Value)
		switch {
		case of.Kind == policy.Prefix && of.Value == "":
			return exactly(policy.Always)
		case of.Kind != policy.Exact:
			return t.unsaid(at, fmt.Sprintf("it asks for a %s by a match of the kind %s", a.Name, of.Kind))
		case err != nil:
			// Envoy writes each address in one way.
			return exactly(policy.Never)
		default:
			return exactly(a.Exact(of.Value))
		}
	})
}

// blocks compares an address with blocks, of which one is enough.
func (t *translator) blocks(a *policy.Attribute, of []*corev3.CidrRange, at *messages.Path) reading {
	out := make([]reading, len(of))
	for i, block := range of {
		out[i] = t.block(a, block, at.Index(i))
	}
	return anyOf(out)
}

// block compares an address with a block. Envoy ignores the bits behind the length of the
// block, and takes a length that is too long for the whole address.
func (t *translator) block(a *policy.Attribute, of *corev3.CidrRange, at *messages.Path) reading {
	address, err := netip.ParseAddr(of.GetAddressPrefix())
	if err != nil || address.Zone() != "" {
		return t.unsaid(at, "its block has no address: Envoy refuses it")
	}
	block := netip.PrefixFrom(address, min(int(of.GetPrefixLen().GetValue()), address.BitLen())).Masked()
	if block.IsSingleIP() {
		return exactly(a.Exact(block.Addr().String()))
	}
	return exactly(policy.Is{Attribute: a, Match: policy.Match{Kind: policy.CIDR, Value: block.String()}})
}

// isAddress reports whether an attribute is compared by blocks.
func isAddress(a *policy.Attribute) bool { return slices.Contains(a.Kinds, policy.CIDR) }
