package harness

import (
	"fmt"
	"net/netip"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/harness/caller"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

// MeshSpec describes a mesh as data.
type MeshSpec struct {
	// TrustDomains are the trust domains whose SVIDs the inbounds accept. There must be
	// one; the first is the trust domain of the mesh.
	TrustDomains []spiffeid.TrustDomain
	Inbounds     []Inbound
}

// Inbound is one port of one workload.
type Inbound struct {
	// Name identifies the inbound within its mesh, say "backend/http-port".
	Name string
	// Identity is the SPIFFE ID in the certificate of the inbound.
	Identity spiffeid.ID
	// Address is the destination that callers play. It is unique within the mesh.
	Address  netip.AddrPort
	Protocol policy.Protocol
	MTLS     xds.MTLS
	// Filters authorize. With the zero value every caller with a sound SVID passes.
	Filters       xds.Filters
	Normalization policy.PathNormalization
}

// Request is one request of one caller.
type Request struct {
	// To is the name of an inbound.
	To string
	// Credential is the certificate that the caller shows; nil for a TLS caller without one.
	Credential *certs.Credential
	// Plaintext turns TLS off.
	Plaintext bool
	// SourceIP is the address that the caller plays. The zero value stands for an address
	// that no workload has.
	SourceIP netip.Addr
	// The rest is the request as [caller.Call] describes it.
	Method, Path, Authority string
	Headers                 []caller.Header
	GRPC                    string
	Body                    string
}

var defaultSource = netip.MustParseAddr("10.255.255.254")

func (s MeshSpec) check() error {
	if len(s.TrustDomains) == 0 {
		return fmt.Errorf("harness: mesh: it trusts no trust domain: name at least its own")
	}
	names, addresses := map[string]bool{}, map[netip.AddrPort]string{}
	for _, in := range s.Inbounds {
		switch other, taken := addresses[in.Address]; {
		case names[in.Name]:
			return fmt.Errorf("harness: mesh: two inbounds are named %q", in.Name)
		case taken:
			return fmt.Errorf("harness: mesh: inbounds %q and %q share the address %s", other, in.Name, in.Address)
		case in.Address == controlAddress || in.Name == controlName:
			return fmt.Errorf("harness: mesh: inbound %q takes the place of the positive control", in.Name)
		}
		names[in.Name], addresses[in.Address] = true, in.Name
	}
	return nil
}
