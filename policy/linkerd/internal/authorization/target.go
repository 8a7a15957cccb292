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
			Policy: server.String(), Name: server.Metadata.Name, Place: server.doc.Place(""), Key: fmt.Sprint(server.Metadata.Namespace, server.Spec.PodSelector.Requirements(), server.port, server.portName),
			Miss: server.miss, Fit: server.fit,
		}
		if server.port != 0 {
			out = append(out, t.OnPorts([]uint16{server.port})...)
		} else {
			out = append(out, t)
		}
	}
	return out
}

// fit changes the namespace, the labels and the port of the inbound so that the Server takes it.
func (s Server) fit(in policy.Inbound) policy.Inbound {
	in.Workload.Namespace, in.Workload.Labels = s.Metadata.Namespace, s.Spec.PodSelector.Fit(in.Workload.Labels)
	if s.portName != "" {
		in.Name = s.portName
	} else {
		in.Port = s.port
	}
	return in
}
