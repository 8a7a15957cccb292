package kri

import (
	"cmp"

	"github.com/meshproof/meshproof/policy"
)

// Inbound returns the identifier of an inbound: the identifier of its Dataplane with the
// inbound's section. A workload without a mesh is in the mesh "default".
func Inbound(in policy.Inbound) KRI {
	w := in.Workload
	return KRI{
		Type: Dataplane, Mesh: cmp.Or(w.Mesh, "default"), Zone: w.Zone, Namespace: w.Namespace, Name: w.Name, Section: in.Section(),
	}
}
