package controlplane

import (
	"fmt"
	"net/netip"
	"regexp"

	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

// Inbound is one port of the virtual mesh: a filter chain. Envoy selects it by the
// destination that the caller plays.
type Inbound struct {
	// Stat is the stat prefix of all counters of the inbound. It has letters, digits,
	// "_" and "-" only, because a dot breaks Envoy's tag extraction. It is unique
	// within one Envoy, because filters with one prefix share counters.
	Stat string
	// Destination is the destination that callers of the inbound play.
	Destination netip.AddrPort
	Protocol    policy.Protocol
	MTLS        xds.MTLS
	// JudgesPlaintext is true where the filters judge callers in plaintext too, as callers
	// without a name. Elsewhere such a caller passes unjudged, if MTLS lets it in.
	JudgesPlaintext bool
	// Identity is the name of the secret with the workload's SVID.
	Identity string
	Filters  xds.Filters
	// AsksForSNI is true where a filter asks for the server name of a handshake: the
	// listener then has a TLS inspector.
	AsksForSNI bool
	// Tokens is what an HTTP inbound demands of tokens.
	Tokens token.Demand
	// Normalization applies to HTTP inbounds.
	Normalization policy.PathNormalization
	// TrustedHops is the number of entries of x-forwarded-for that an HTTP inbound trusts, the
	// last ones: the first of them is the remote address. 0 trusts no header.
	TrustedHops int
	// Headers are the names of the headers that the access log of an HTTP inbound shows.
	Headers []string
	// BehindOutbounds is true where requests come through outbounds too: no bound of the inbound
	// may then cut before one of theirs, and no request is sent to the application twice.
	BehindOutbounds bool
}

var (
	statPrefix = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)
	// placeSuffix is the end of the stat prefixes of network filters, see [FilterPlace].
	placeSuffix = regexp.MustCompile(`_((filter|log|ask)[0-9]+|effective)$`)
)

func (i Inbound) check() error {
	switch {
	case !statPrefix.MatchString(i.Stat):
		return fmt.Errorf("xds: inbound %s: stat prefix %q may only have letters, digits, '_' and '-'", i.Destination, i.Stat)
	case placeSuffix.MatchString(i.Stat):
		return fmt.Errorf("xds: inbound %s: stat prefix %q ends like the stat prefix of one of its filters", i.Destination, i.Stat)
	case !i.Destination.IsValid() || i.Destination.Port() == 0:
		return fmt.Errorf("xds: inbound %s: destination %s is not an address with a port", i.Stat, i.Destination)
	case i.Destination == canaryDestination:
		return fmt.Errorf("xds: inbound %s: destination %s is the destination of the canary", i.Stat, i.Destination)
	case i.Protocol == policy.TCP && len(i.Filters.HTTP)+len(i.Filters.Routes) > 0:
		return fmt.Errorf("xds: inbound %s: an HTTP filter cannot stand on a tcp inbound; compile the policies for its protocol", i.Stat)
	default:
		return nil
	}
}
