package verdict

import (
	"github.com/meshproof/meshproof/internal/destination"
	"github.com/meshproof/meshproof/internal/rewrite"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// OnItsPort returns the program of the inbound with every question for the port and for the
// address of the inbound answered. So programs of inbounds at different places can be compared.
func (in Inbound) OnItsPort() policy.Program {
	return rewrite.Program(destination.Settle(in.Program.Program, in.IP), func(_ policy.Layer, is policy.Is) policy.Condition {
		if is.Attribute == attribute.DestinationPort {
			return policy.Constant(is.Holds(&policy.Request{Port: in.Port}))
		}
		return is
	})
}
