package networkpolicy

import "slices"

// Unproven returns a text for each part of a rule that lets callers in without authentication: whom, to which endpoints, on which
// port. A part has the same text in whatever rule it stands. It also says whether another rule demands the proof.
func Unproven(ps []Policy) (parts []string, demanded bool) {
	for _, p := range ps {
		for _, s := range append([]*Spec{p.resource.Spec}, p.resource.Specs...) {
			if s == nil {
				continue
			}
			for _, r := range s.Ingress {
				if r.Authentication != nil && r.Authentication.Mode != authDisabled {
					demanded = true
					continue
				}
				parts = append(parts, r.parts([]any{p.resource.Metadata.Namespace, s.EndpointSelector})...)
			}
		}
	}
	slices.Sort(parts)
	return slices.Compact(parts), demanded
}

// parts returns a text for each peer of a rule on each port.
func (r Ingress) parts(subject any) (out []string) {
	for _, peer := range r.peerItems() {
		if r.isUniform() {
			out = append(out, "a rule for "+jsonOf(peer, subject))
		}
		if len(r.ICMPs) > 0 {
			out = append(out, "a rule for "+jsonOf(peer, r.ICMPs, subject))
		}
		for _, entry := range r.ToPorts {
			if len(entry.Ports) == 0 {
				out = append(out, "a rule for "+jsonOf(peer, entry, subject))
			}
			for _, port := range entry.Ports {
				entry.Ports = []PortProtocol{port}
				out = append(out, "a rule for "+jsonOf(peer, entry, subject))
			}
		}
	}
	return out
}
