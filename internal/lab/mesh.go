package lab

import (
	"slices"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/dataplane"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
)

// Mesh is a set of workloads that send requests to each other, with all documents about them.
type Mesh struct {
	*Files
	Surroundings
	// Case is the name of the case that states it; empty for files outside of cases.
	Case string
}

// Meshes returns the files outside of cases, and each case, where they have routes, timeouts or
// services.
func (f *Files) Meshes(s Surroundings) (out []Mesh) {
	if len(f.Routing) > 0 {
		out = append(out, Mesh{f, s, ""})
	}
	for _, c := range f.Cases {
		if len(c.Routing) > 0 {
			out = append(out, MeshOf(c))
		}
	}
	return out
}

// MeshOf returns the mesh that a case states.
func MeshOf(c cases.Case) Mesh { return Mesh{filesOf(c), Surroundings{Options: c.Options}, c.Name} }

// StateCase reports whether the files stand for a case, which has the workloads that it states and no
// other ones.
func (f *Files) StateCase() bool { return f.stated != nil }

// filesOf are the files of which a case could have been made.
func filesOf(c cases.Case) *Files {
	out := &Files{Name: c.Name, Cases: []cases.Case{c}, HasCases: true, Routing: c.Routing, stated: &c}
	for _, peer := range c.Options.Peers {
		d := &dataplane.Dataplane{Workload: peer.Workload}
		for _, in := range c.Inbounds {
			if in.Workload.Name == peer.Workload.Name {
				d.Inbounds = append(d.Inbounds, in.Inbound)
			}
		}
		if len(d.Inbounds) > 0 {
			out.Dataplanes = append(out.Dataplanes, d)
			out.workloads = append(out.workloads, d.Inbounds[0])
			continue
		}
		out.workloads = append(out.workloads, policy.Inbound{Workload: peer.Workload})
	}
	return out
}

// withoutClaims is the case that the files were made of, without its requests and expectations. A sender
// that the case does not have is added.
func (f *Files) withoutClaims(of Sender) Case {
	c := *f.stated
	c.Name += ": requests of " + of.Workload.Workload.Name
	c.Requests, c.RoutedRequests, c.Counters, c.ExpectWarnings, c.Gate = nil, nil, nil, nil, cases.Gate{}
	c.Options.Peers = slices.Clone(c.Options.Peers)
	if !slices.ContainsFunc(c.Options.Peers, func(p language.Peer) bool { return p.Workload.Name == of.Workload.Workload.Name }) {
		c.Options.Peers = append(c.Options.Peers, of.peer())
	}
	return Case{Case: c}
}
