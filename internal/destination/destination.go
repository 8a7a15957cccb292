// Package destination answers questions for the address that callers connect to, where that
// address is known.
//
// An inbound has one address, of IPv4 here. A caller of IPv6 reaches it in the notation of IPv6
// (RFC 4291, section 2.5.5.2), as on a workload with an address of each family: no block of IPv4
// has that address. So the family of the caller's address answers the question.
//
// The package guarantees that a program decides each request to the address as before. It knows
// no Envoy.
package destination

import (
	"iter"
	"net/netip"

	"github.com/meshproof/meshproof/internal/rewrite"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// Reached returns the address that a caller connects to.
func Reached(at, caller netip.Addr) netip.Addr {
	if caller.Is6() && at.Is4() {
		return netip.AddrFrom16(at.As16())
	}
	return at
}

// Asked yields the matches of a program that ask for the destination address.
func Asked(p policy.Program) iter.Seq[policy.Match] {
	return func(yield func(policy.Match) bool) {
		for c := range p.Conditions() {
			if is, ok := c.(policy.Is); ok && is.Attribute == attribute.DestinationAddress && !yield(is.Match) {
				return
			}
		}
	}
}

// IsAsked reports whether one of the programs asks for the destination address.
func IsAsked(programs ...policy.Program) bool {
	for _, p := range programs {
		for range Asked(p) {
			return true
		}
	}
	return false
}

// Settle returns the program with each question for the destination address answered. A program
// without one stays as it is, and so does each program where the address is not known.
func Settle(p policy.Program, at netip.Addr) policy.Program {
	if !at.IsValid() || !IsAsked(p) {
		return p
	}
	return rewrite.Program(p, func(_ policy.Layer, is policy.Is) policy.Condition {
		if is.Attribute == attribute.DestinationAddress {
			return Answer(is.Match, at)
		}
		return is
	})
}

// Answer returns the condition on the caller that a match of the destination address comes to.
func Answer(m policy.Match, at netip.Addr) policy.Condition {
	meets := func(caller netip.Addr) bool { return m.Matches(Reached(at, caller).String()) }
	switch plain, mapped := meets(netip.IPv4Unspecified()), meets(netip.IPv6Unspecified()); {
	case plain && mapped:
		return policy.Always
	case plain:
		return policy.Is{Attribute: attribute.SourceAddress, Match: policy.Match{Kind: policy.CIDR, Value: "0.0.0.0/0"}}
	case mapped:
		return policy.Is{Attribute: attribute.SourceAddress, Match: policy.Match{Kind: policy.CIDR, Value: "::/0"}}
	default:
		return policy.Never
	}
}
