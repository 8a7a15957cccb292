package policyset

import (
	"slices"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/mtls"
)

// Permissive returns the case with inbounds that take callers in plaintext too, where they state no mode.
func Permissive(c cases.Case) cases.Case {
	c.Inbounds = slices.Clone(c.Inbounds)
	for i := range c.Inbounds {
		if in := &c.Inbounds[i]; in.MTLS == mtls.Unset {
			in.MTLS = mtls.Permissive
		}
	}
	return c
}
