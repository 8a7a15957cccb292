package networkpolicy

import (
	"net/netip"
	"slices"

	"github.com/meshproof/meshproof/internal/condition"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// The entities. Every other entity is no caller of the lab: no node, no API server and no pod
// that Cilium does not manage calls an inbound there.
const (
	entityAll         = "all"
	entityCluster     = "cluster"
	entityClusterMesh = "cluster-mesh"
	entityWorld       = "world"
	entityNone        = "none"
)

var entities = []string{
	entityAll, entityWorld, entityCluster, entityClusterMesh,
	"host", "remote-node", "kube-apiserver", "ingress", "init", "health", "unmanaged", entityNone,
}

// callers are the workloads of a case as peers, and the world.
type callers struct {
	workloads []identity
	// names are the conditions that the caller is workload i.
	names []policy.Condition
}

func callersOf(o Options) callers {
	var out callers
	for _, peer := range o.Peers {
		out.workloads = append(out.workloads, identityOf(peer.Workload, o))
		out.names = append(out.names, attribute.URISAN.Exact(peer.Identity.String()))
	}
	return out
}

// world returns the condition that the caller is no workload.
func (c callers) world() policy.Condition { return condition.None(c.names) }

// selected returns the numbers of the workloads that the peers have, whether they have the
// whole world, and the condition that the caller is in a block of addresses of the world.
func (c callers) selected(p peers) (workloads []int, everyWorld bool, blocks []policy.Condition) {
	all := func() []int {
		out := make([]int, len(c.workloads))
		for i := range out {
			out[i] = i
		}
		return out
	}
	if p.everyone {
		return all(), true, nil
	}
	for i, e := range c.workloads {
		if slices.ContainsFunc(p.endpoints, func(s selector) bool { return s.selects(e) }) {
			workloads = append(workloads, i)
		}
	}
	everyWorld = slices.ContainsFunc(p.endpoints, func(s selector) bool { return s.selects(world) })
	for _, entity := range p.entities {
		switch entity {
		case entityAll:
			return all(), true, nil
		case entityCluster, entityClusterMesh:
			workloads = all()
		case entityWorld:
			everyWorld = true
		}
	}
	for _, b := range p.blocks {
		var except []policy.Condition
		for _, e := range b.except {
			except = append(except, inBlock(e))
		}
		blocks = append(blocks, condition.Both(inBlock(b.prefix), condition.None(except)))
	}
	return workloads, everyWorld, blocks
}

func inBlock(block netip.Prefix) policy.Condition {
	if block.IsSingleIP() {
		return attribute.SourceAddress.Exact(block.Addr().String())
	}
	return policy.Is{Attribute: attribute.SourceAddress, Match: policy.Match{Kind: policy.CIDR, Value: block.String()}}
}

// lets returns the condition that the caller is one of the peers of a rule, and has proven what the
// rule demands. The certificate of a workload proves its identity; the world has none.
func (c callers) lets(r rule) policy.Condition {
	if r.auth == authFail {
		return policy.Never
	}
	workloads, everyWorld, blocks := c.selected(r.peers)
	if r.auth == authRequired {
		everyWorld, blocks = false, nil
	}
	return c.are(workloads, everyWorld, blocks)
}

// unproven returns the condition that the caller is one of the peers of a rule, and cannot prove
// what the rule demands.
func (c callers) unproven(r rule) policy.Condition {
	workloads, everyWorld, blocks := c.selected(r.peers)
	switch r.auth {
	case authFail:
		return c.are(workloads, everyWorld, blocks)
	case authRequired:
		return c.are(nil, everyWorld, blocks)
	default:
		return policy.Never
	}
}

// are returns the condition that the caller is one of the workloads, or of the world, or in a block
// of the world.
func (c callers) are(workloads []int, everyWorld bool, blocks []policy.Condition) policy.Condition {
	if everyWorld && len(workloads) == len(c.workloads) {
		return policy.Always
	}
	var or []policy.Condition
	for _, i := range workloads {
		or = append(or, c.names[i])
	}
	switch {
	case everyWorld:
		or = append(or, c.world())
	case blocks != nil:
		or = append(or, condition.All([]policy.Condition{c.world(), condition.Any(blocks)}))
	}
	return condition.Any(or)
}
