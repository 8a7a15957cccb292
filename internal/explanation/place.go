package explanation

import (
	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/policy/language"
)

// locate says which lines of the policies decide a request that a gate is asked about.
func (e *Explanation) locate(s lab.Subject, program language.Program, q cases.Request) {
	locator, ok := s.Set.(capability.Locator)
	if !ok {
		return
	}
	request, _ := see(s, program, q)
	e.Place, e.ShadowPlace = locator.Locate(s.Inbound.Inbound)(request)
}
