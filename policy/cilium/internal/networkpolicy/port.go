package networkpolicy

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/meshproof/meshproof/internal/endpoint"
	"github.com/meshproof/meshproof/policy"
)

// maxPorts is the largest number of ports in one entry.
const maxPorts = 40

// protocols are the names that an entry may have. Those from portless on have no ports.
var protocols = []string{anyProtocol, "TCP", "UDP", "SCTP", "VRRP", "IGMP", "GRE", "IPIP", "IPV6", "ESP", "AH"}

const (
	// anyProtocol is meant where none is written.
	anyProtocol = "ANY"
	portless    = 4
)

// portRange is a range of ports, or a port by its name.
type portRange struct {
	name        string
	first, last uint16
	// tcp is true where the protocol is TCP, or any.
	tcp bool
}

// has reports whether an inbound is on the range. Port 0 is every port.
func (r portRange) has(in policy.Inbound) bool {
	switch {
	case !r.tcp:
		return false
	case r.name != "":
		return strings.EqualFold(r.name, in.Name)
	default:
		return r.last == 0 || r.first <= in.Port && in.Port <= r.last
	}
}

// isOfAll reports whether a port is one of every protocol.
func (p PortProtocol) isOfAll() bool { return p.Protocol == "" || p.Protocol == anyProtocol }

// entriesFor returns the entries of the rule that are about the inbound, and whether the rule is.
func (r rule) entriesFor(in policy.Inbound) (entries []portRule, ok bool) {
	if r.icmp {
		return nil, false
	}
	for _, entry := range r.ports {
		if slices.ContainsFunc(entry.ports, func(p portRange) bool { return p.has(in) }) {
			entries = append(entries, entry)
		}
	}
	return entries, r.ports == nil || entries != nil
}

func (r *reader) readPorts(field string, from []PortRule, where direction) []portRule {
	var out []portRule
	for i, entry := range from {
		at := item(field, i)
		p := portRule{field: at}
		if len(entry.Ports) > maxPorts {
			r.refuse(at+".ports", "the list has %d ports, at most %d are allowed", len(entry.Ports), maxPorts)
		}
		for k, port := range entry.Ports {
			p.ports = append(p.ports, r.readPort(item(at+".ports", k), port))
		}
		if where.deny {
			r.refuseFields(at, "a deny rule is about addresses and ports alone", "rules", "serverNames", "terminatingTLS", "originatingTLS", "listener")
			out = append(out, p)
			continue
		}
		r.checkTLS(at, entry)
		r.refuseTLS(at, entry, where)
		p.http = r.readL7(at, entry, where)
		out = append(out, p)
	}
	return out
}

// refuseTLS refuses rules that look into the TLS of the workload. The lab has the TLS of the
// mesh only.
func (r *reader) refuseTLS(field string, from PortRule, where direction) {
	if where.egress {
		return
	}
	if len(from.ServerNames) > 0 {
		r.refuse(field+".serverNames", "meshproof cannot judge the server name of a workload's own TLS: the lab's TLS is that of the mesh")
	}
	if from.TerminatingTLS != nil || from.OriginatingTLS != nil {
		r.refuse(field, "meshproof cannot judge TLS that Cilium terminates: it needs the secret of the agent")
	}
	if from.Listener != nil {
		r.refuse(field+".listener", "a listener is not allowed on ingress")
	}
}

func (r *reader) readPort(field string, from PortProtocol) portRange {
	protocol := cmp.Or(from.Protocol, anyProtocol)
	out := portRange{tcp: protocol == anyProtocol || protocol == "TCP"}
	if r.has(field+".protocol") && !slices.Contains(protocols, from.Protocol) {
		r.refuse(field+".protocol", "%q is unknown: use one of %s", from.Protocol, strings.Join(protocols, ", "))
	}
	if slices.Contains(protocols[portless:], protocol) && from.Port != "0" {
		r.refuse(field+".port", "the protocol %s has no ports: write 0", protocol)
		return out
	}
	if from.Port == "" {
		r.refuse(field+".port", "the port is missing")
		return out
	}
	number, err := endpoint.Port(from.Port)
	if err != nil {
		out.name = from.Port
		switch reasons := validation.IsValidPortName(strings.ToLower(from.Port)); {
		case reasons != nil:
			r.refuse(field+".port", "%q is neither a port in decimal digits nor the name of a port: %s", from.Port, reasons[0])
		case from.EndPort != 0:
			r.refuse(field+".endPort", "a port with a name is no range: write the number")
		}
		return out
	}
	out.first, out.last = number, number
	switch {
	case from.EndPort < 0 || from.EndPort > 65535:
		r.refuse(field+".endPort", "%d is no port", from.EndPort)
	case from.EndPort != 0 && number == 0:
		r.refuse(field+".endPort", "the port 0 is every port to Cilium, whatever the range ends at: leave endPort out, or begin at 1")
	case from.EndPort != 0 && uint16(from.EndPort) < number:
		r.refuse(field+".endPort", "the range ends at %d, before it begins at %d", from.EndPort, number)
	case from.EndPort != 0:
		out.last = uint16(from.EndPort)
	}
	return out
}
