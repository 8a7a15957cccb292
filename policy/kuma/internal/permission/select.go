package permission

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/policy"
)

// Selection is what applies to one inbound, and what does not.
type Selection struct {
	// Policies are in the order in which their rules are concatenated, the weakest
	// first.
	Policies []Policy
	Ignored  []Ignored
}

// Ignored is a policy that does not apply, with the reason.
type Ignored struct {
	Policy Policy
	Reason string
}

// Select returns the policies that apply to the inbound. The result does not
// depend on the order of ps, apart from that of Ignored, which it keeps.
func Select(ps []Policy, in policy.Inbound, opts Options) Selection {
	reasons := make([]string, len(ps))
	ranks := make([]rank, 0, len(ps))
	for i := range ps {
		if reasons[i] = ps[i].misses(&in, opts); reasons[i] == "" {
			ranks = append(ranks, rankOf(&ps[i], opts))
		}
	}
	ranks = withoutFrom(ranks, ps, reasons)
	slices.SortStableFunc(ranks, rank.compare)
	sel := Selection{Policies: make([]Policy, len(ranks)), Ignored: make([]Ignored, 0, len(ps)-len(ranks))}
	for i, r := range ranks {
		sel.Policies[i] = *r.policy
	}
	for i, reason := range reasons {
		if reason != "" {
			sel.Ignored = append(sel.Ignored, Ignored{Policy: ps[i], Reason: reason})
		}
	}
	return sel
}

// misses returns why the policy does not apply to the inbound, "" if it does.
func (p *Policy) misses(in *policy.Inbound, opts Options) string {
	w := &in.Workload
	mesh, namespace := cmp.Or(w.Mesh, defaultMesh), cmp.Or(w.Namespace, defaultNamespace)
	role := p.role(opts)
	switch {
	case p.labels[labelEffect] == effectShadow:
		return "the label kuma.io/effect makes it a shadow policy"
	case p.id.Mesh != mesh:
		return fmt.Sprintf("it is of mesh %q, the workload of mesh %q", p.id.Mesh, mesh)
	case role != roleProducer && w.Origin == originZone && p.labels[labelOrigin] == originZone && p.id.Zone != w.Zone:
		return fmt.Sprintf("it is of zone %q, the workload of zone %q", p.id.Zone, w.Zone)
	case (role == roleConsumer || role == roleOwner) && p.id.Namespace != namespace:
		return fmt.Sprintf("it is of namespace %q, the workload of namespace %q", p.id.Namespace, namespace)
	}
	return p.target.misses(in)
}

// rank is the place of a policy among those that apply: numbers first, rising
// with the weight, then names.
type rank struct {
	policy *Policy
	weight [4]uint8
}

func rankOf(p *Policy, opts Options) rank {
	r := rank{policy: p}
	r.weight[0] = uint8(p.target.kind)
	if p.target.section != "" {
		r.weight[1] = 1
	}
	switch p.labels[labelOrigin] {
	case originGlobal:
	case originZone:
		r.weight[2] = 2
	default:
		r.weight[2] = 1
	}
	r.weight[3] = uint8(slices.Index(roles, p.role(opts)))
	return r
}

// compare orders the weakest first. Of two equal ones the display name that
// sorts first is the stronger; the identifier settles the rest.
func (r rank) compare(s rank) int {
	if c := bytes.Compare(r.weight[:], s.weight[:]); c != 0 {
		return c
	}
	if c := strings.Compare(s.policy.id.Name, r.policy.id.Name); c != 0 {
		return c
	}
	return strings.Compare(r.policy.origin, s.policy.origin)
}
