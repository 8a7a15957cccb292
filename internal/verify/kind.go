package verify

import (
	"fmt"
	"strings"

	"github.com/meshproof/meshproof/internal/sidecar"
	"github.com/meshproof/meshproof/policy"
)

// Gap tells why an inbound is not verified.
type Gap uint8

const (
	// NoPolicies is an inbound of the sidecar that the policies are not about.
	NoPolicies Gap = iota
	// NoListener is an inbound that the policies are about, and the sidecar has not.
	NoListener
	// NotReplayable is an inbound whose filters were not all read.
	NotReplayable
	// OtherJudges is an inbound where something besides RBAC decides too.
	OtherJudges
)

// Unverified is an inbound of either side that was not proven, or not in all that decides.
type Unverified struct {
	Gap Gap
	// Inbound names it.
	Inbound string
	// Port is that of an inbound without a listener. Filters is true for an inbound of
	// the sidecar that has filters without a listener.
	Port    uint16
	Filters bool
	// Judges says what else decides.
	Judges []string
}

// String names the inbound and the reason.
func (u Unverified) String() string {
	switch u.Gap {
	case NoPolicies:
		about := "on this port"
		if u.Filters {
			about = "of this name"
		}
		return u.Inbound + ": the policies are about no inbound " + about
	case NoListener:
		return fmt.Sprintf("%s: the sidecar has no inbound on port %d", u.Inbound, u.Port)
	case NotReplayable:
		return u.Inbound + ": a part of its filters cannot be replayed, see unknown"
	default:
		return u.Inbound + ": " + strings.Join(u.Judges, "; ")
	}
}

// Fact tells what a finding is.
type Fact uint8

const (
	// OtherProtocol is a listener of another layer than the inbound.
	OtherProtocol Fact = iota
	// OtherAddress is a listener with another address than the Dataplane states.
	OtherAddress
	// Unguarded is an inbound without an authorization filter.
	Unguarded
	// WeakTransport is an inbound that does not demand mTLS.
	WeakTransport
)

// Finding is a fact about an inbound of the sidecar that no policy speaks of.
type Finding struct {
	Fact Fact
	// Inbound names it.
	Inbound string
	// Found is the protocol of the listener, Wanted that of the inbound.
	Found, Wanted policy.Protocol
	// Address is that of the Dataplane.
	Address string
	// Transport is that of the listener.
	Transport sidecar.Transport
}

// String names the inbound and the fact.
func (f Finding) String() string {
	switch f.Fact {
	case OtherProtocol:
		return fmt.Sprintf("%s: it is a %s listener, the inbound speaks %s", f.Inbound, f.Found, f.Wanted)
	case OtherAddress:
		return fmt.Sprintf("%s: its address is not that of the Dataplane, %s", f.Inbound, f.Address)
	case Unguarded:
		return f.Inbound + ": it has no authorization filter: whoever gets there passes"
	default:
		return fmt.Sprintf("%s: its transport is %s: an identity is no better than that", f.Inbound, f.Transport)
	}
}
