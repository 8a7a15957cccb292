package authorization

import (
	"fmt"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/policy"
)

// Targets returns what the Servers take, in order: the other objects are about Servers.
func Targets(s Set) (out []capability.Target) {
	for _, server := range s.Servers {
		t := capability.Target{
			Policy: server.String(), Name: server.Metadata.Name, Place: server.doc.Place(""), Key: fmt.Sprint(server.Metadata.Namespace, server.Spec.PodSelector.Requirements(), server.port, server.portName, server.Spec.ProxyProtocol),
			Miss: server.miss, Fit: server.fit, Linked: true,
		}
		if server.port != 0 {
			t.Vary = server.nextPort
		}
		out = append(out, t)
	}
	return out
}

// nextPort returns the inbound on the port next to the Server's, which it does not take.
func (s Server) nextPort(in policy.Inbound) []policy.Inbound {
	if in.Port != s.port {
		return nil
	}
	in.Port = in.Port%65535 + 1
	return []policy.Inbound{in}
}

// fit changes the namespace, the labels, the port and the protocol of the inbound so that the
// Server takes it.
func (s Server) fit(in policy.Inbound) policy.Inbound {
	in.Workload.Namespace, in.Workload.Labels = s.Metadata.Namespace, s.Spec.PodSelector.Fit(in.Workload.Labels)
	if s.portName != "" {
		in.Name = s.portName
	} else {
		in.Port = s.port
	}
	switch is, says := in.Protocol, s.Spec.ProxyProtocol; {
	case says == protocolHTTP1 && is != policy.TCP:
		in.Protocol = policy.HTTP
	case says == protocolHTTP2 && is == policy.HTTP:
		in.Protocol = policy.HTTP2
	case says == protocolGRPC && is == policy.HTTP:
		in.Protocol = policy.GRPC
	}
	return in
}
