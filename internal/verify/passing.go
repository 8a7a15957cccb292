package verify

import (
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/internal/dump"
	"github.com/meshproof/meshproof/internal/sidecar"
)

// ipv6Metadata is the name under which the node of a Kuma sidecar says whether its machine has addresses of IPv6.
const ipv6Metadata = "ipv6Enabled"

// passOn takes a listener of Kuma's transparent proxy, which has the redirected connections that no other listener has, and
// passes them on without authorization.
func (v *Verification) passOn(passing sidecar.Inbound, unknown []dump.Unknown, here []*subject, found sidecar.Sidecar) {
	if reason := opens(passing, here, found); reason != "" {
		v.Unverified = append(v.Unverified, Unverified{Gap: Contradicted, Inbound: title(passing), Reasons: []string{reason}})
	} else {
		v.Findings = append(v.Findings, Finding{Fact: PassesOn, Inbound: title(passing)})
	}
	if judges := otherJudges(unknown); len(judges) > 0 {
		v.Unverified = append(v.Unverified, Unverified{Gap: OtherJudges, Inbound: title(passing), Reasons: judges})
	}
}

// haveDataplanes reports whether Dataplanes state the address of each subject.
func haveDataplanes(subjects []*subject) bool {
	return len(subjects) > 0 && !slices.ContainsFunc(subjects, func(s *subject) bool { return len(s.addresses) == 0 })
}

// opens says how a listener that passes redirected connections on leads past the inbounds of Dataplanes; "" where it gets
// none of their connections.
func opens(passing sidecar.Inbound, here []*subject, found sidecar.Sidecar) string {
	guarded := map[uint16]bool{}
	for _, s := range here {
		for _, address := range s.addresses {
			if address.Is4() != passing.Address.Addr().Is4() && !(address.Is4() && lackIPv6(found.Nodes)) {
				return fmt.Sprintf("it passes connections on without authorization, also those to an address of the workload beside %s", address)
			}
		}
		for _, in := range found.Inbounds {
			guarded[in.Address.Port()] = guarded[in.Address.Port()] || !in.PassesOn && s.hasAddress(in.Address.Addr())
		}
	}
	own := passing.Address.Port()
	if own != 0 && !guarded[own] {
		return fmt.Sprintf("it passes connections to port %d on without authorization, and no listener has this port of the workload", own)
	}
	for _, in := range found.Inbounds {
		for _, to := range in.Leads {
			if !to.Mirror && !guarded[to.Port()] && (own == 0 || own == to.Port()) {
				return fmt.Sprintf("it passes connections to port %d on without authorization, past the inbound on port %d, which leads there", to.Port(), in.Address.Port())
			}
		}
	}
	return ""
}

// lackIPv6 reports whether all nodes say that their machine has no address of IPv6.
func lackIPv6(nodes []dump.Node) bool {
	for _, node := range nodes {
		if has, ok := node.Metadata[ipv6Metadata].(bool); !ok || has {
			return false
		}
	}
	return len(nodes) > 0
}
