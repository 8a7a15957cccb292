package networkpolicy

import "slices"

// Unproven returns a text for each part of a rule that lets callers in without authentication: whom, to which endpoints, on which
// port. A part has the same text in whatever rule it stands. It also says whether another rule demands the proof.
func Unproven(ps []Policy) (parts []string, demanded bool) {
	for _, p := range ps {
		for _, s := range p.resource.all() {
			for _, r := range s.Ingress {
				if r.Authentication != nil && r.Authentication.Mode != authDisabled {
					demanded = true
					continue
				}
				parts = append(parts, r.parts(p.subjectOf(s))...)
			}
		}
	}
	slices.Sort(parts)
	return slices.Compact(parts), demanded
}
