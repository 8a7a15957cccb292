package lab

import (
	"fmt"

	"github.com/meshproof/meshproof/policy/language"
)

// SharedListeners returns the pairs of inbounds of one Dataplane that have one address and port, and that the policies judge otherwise: a sidecar has one
// listener for both, and each policy of one of them decides there.
func (f *Files) SharedListeners(set language.Policies) (out []Unasked) {
	for _, d := range f.described {
		for i, in := range d.Inbounds {
			for k, other := range d.Inbounds[:i] {
				if other.Port != in.Port || d.Addresses[k] != d.Addresses[i] || set.Program(other).Program.Equal(set.Program(in).Program) {
					continue
				}
				out = append(out, Unasked{
					Policy: fmt.Sprintf("the inbounds %s and %s", other, in), Place: d.Place,
					Reason: "they have one address and port, so that the sidecar has one listener for both, where the policies of each decide about all requests: describe one inbound, and select that",
				})
			}
		}
	}
	return out
}
