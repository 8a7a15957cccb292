package classes

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/meshproof/meshproof/internal/endpoint"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

var _ = add(row{
	attribute: attribute.DestinationPort,
	rank:      10,
	space: func(on Surface) space {
		return portSpace{plainSpace{attribute.DestinationPort}, slices.Sorted(slices.Values(on.Ports))}
	},
	pattern: func(m policy.Match) pattern {
		first, last, err := endpoint.Ports(m.Value)
		if m.Kind == policy.Exact {
			first, err = endpoint.Port(m.Value)
			last = first
		}
		if err != nil {
			// It holds for no port.
			first, last = 1, 0
		}
		return interval(portKey(first), portKey(last))
	},
})

// portSpace is the space of the ports that callers connect to. A key is the two bytes of a
// port.
type portSpace struct {
	plainSpace
	// ports are the ports of the inbound in their order; none for any.
	ports []uint16
}

func portKey(port uint16) string { return string(binary.BigEndian.AppendUint16(nil, port)) }

func portOf(key string) uint16 {
	if len(key) != 2 {
		return 0
	}
	return binary.BigEndian.Uint16([]byte(key))
}

func (portSpace) name() string            { return "destination port" }
func (portSpace) clear(r *policy.Request) { r.Port = 0 }
func (portSpace) value(key string) string { return strconv.Itoa(int(portOf(key))) }
func (portSpace) alphabet() string        { return "" }

func (portSpace) put(r *policy.Request, value string) { r.Port, _ = endpoint.Port(value) }

func (portSpace) key(value string) string {
	port, _ := endpoint.Port(value)
	return portKey(port)
}

func (s portSpace) sound(value string) error {
	port, err := endpoint.Port(value)
	switch {
	case err != nil:
		return err
	case port == 0:
		return fmt.Errorf("no inbound has the port 0")
	case len(s.ports) > 0 && !slices.Contains(s.ports, port):
		return fmt.Errorf("callers connect to port %s alone", strings.Trim(fmt.Sprint(s.ports), "[]"))
	default:
		return nil
	}
}

func (s portSpace) firstKey(text string) (string, bool) {
	least := max(portKey(1), text)
	if len(s.ports) == 0 {
		return least, true
	}
	i, _ := slices.BinarySearch(s.ports, portOf(least))
	if i == len(s.ports) {
		return "", false
	}
	return portKey(s.ports[i]), true
}

func (s portSpace) natural() string {
	if len(s.ports) > 0 {
		return strconv.Itoa(int(s.ports[0]))
	}
	return "8080"
}

func (portSpace) complete(string, int) []string { return nil }

func (s portSpace) neighbours(p pattern, _ string) []variant {
	return aroundInterval(s, p, "port")
}

func (s portSpace) describe(p pattern) string {
	if p.text == p.last {
		return s.name() + " " + s.value(p.text)
	}
	return s.name() + " " + endpoint.PortsText(portOf(p.text), portOf(p.last))
}

// aroundInterval has both ends of an interval, and what is next to it on both sides.
func aroundInterval(s space, p pattern, what string) []variant {
	if p.kind != policy.Range {
		p = interval(p.text, p.text)
	}
	var out []variant
	if lower, ok := keyBefore(p.text); ok {
		out = append(out, variant{s.value(lower), "the " + what + " in front of it"})
	}
	out = append(out, variant{s.value(p.text), "the first " + what + " of it"}, variant{s.value(p.last), "the last " + what + " of it"})
	if higher, ok := keyAfter(p.last); ok {
		out = append(out, variant{s.value(higher), "the " + what + " behind it"})
	}
	return out
}
