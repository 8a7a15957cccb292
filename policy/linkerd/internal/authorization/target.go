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
			Miss: server.miss, Fit: server.fit, Vary: server.vary, Linked: true, Sole: true,
		}
		out = append(out, t)
	}
	return out
}

// vary returns the inbound with other labels of its workload that the selector tells apart, and on
// the port next to the Server's, which the Server does not take.
func (s Server) vary(in policy.Inbound) (out []policy.Inbound) {
	for _, labels := range s.Spec.PodSelector.Vary(in.Workload.Labels) {
		varied := in
		varied.Workload.Labels = labels
		out = append(out, varied)
	}
	if s.port != 0 && in.Port == s.port {
		in.Port = in.Port%65535 + 1
		out = append(out, in)
	}
	return out
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
