package verdict

import (
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/mtls"
	"github.com/meshproof/meshproof/policy/language"
)

// settleMTLS gives each inbound the mTLS that its policies ask for. It fails where the case
// states another one.
func (r *Reading) settleMTLS() error {
	r.Case.Inbounds = slices.Clone(r.Case.Inbounds)
	for i := range r.Case.Inbounds {
		in := &r.Case.Inbounds[i]
		mode, err := ModeOf(*in, r.programs[i])
		if err != nil {
			return &InboundError{fmt.Errorf("%s: %w", r.Case.Place, err)}
		}
		in.MTLS = mode
	}
	return r.checkPlaintext()
}

// checkPlaintext refuses a request in plaintext to an inbound whose mode nobody states.
func (r *Reading) checkPlaintext() error {
	for _, q := range r.Case.Requests {
		if !q.From.Plaintext {
			continue
		}
		i := slices.IndexFunc(r.Case.Inbounds, func(in cases.Inbound) bool { return in.String() == q.To })
		if i < 0 {
			continue
		}
		if why := Unstated(r.Case.Inbounds[i], r.programs[i]); why != "" {
			return fmt.Errorf("%s: %s", q.Place, why)
		}
	}
	return nil
}

// Unstated says that neither a case nor a policy states which callers an inbound takes, where the
// mesh of the policies takes plaintext by default: then nobody knows what becomes of such a caller. It returns "" elsewhere.
func Unstated(in cases.Inbound, program language.Program) string {
	if in.MTLS != mtls.Unset || program.MTLS != mtls.Unset || !program.DefaultMTLS.TakesPlaintext() {
		return ""
	}
	return fmt.Sprintf("nobody says whether the inbound %s takes plaintext: neither the case nor a policy states its mTLS, and such a mesh takes plaintext unless told otherwise: write mtls: permissive or mtls: strict for it", in)
}

// ModeOf returns which callers an inbound takes, which its policies or else its case say. It
// fails where the two differ.
func ModeOf(in cases.Inbound, program language.Program) (mtls.Mode, error) {
	switch {
	case program.MTLS == mtls.Unset:
		return in.MTLS, nil
	case in.MTLS != mtls.Unset && in.MTLS != program.MTLS:
		return 0, fmt.Errorf("inbound %s: mtls is %s here, and the policies say %s: leave mtls out", in, in.MTLS, program.MTLS)
	default:
		return program.MTLS, nil
	}
}
