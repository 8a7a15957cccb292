// Package casefile has the names and defaults of the case format that its reader, package cases, shares with its writer,
// package casewriter.
package casefile

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/policy/manifest"
)

// The callers that every case has. The first uses no TLS, the second shows no certificate.
const (
	Plaintext = "plaintext"
	Anonymous = "anonymous"
)

// The defaults of a case and of its workloads.
const (
	DefaultTrustDomain = "trust-domain.mesh"
	DefaultMesh        = "default"
	DefaultNamespace   = "default"
)

// WithPolicies returns the source of a case with the policies of other files below it, so that
// a report shows all that was run.
func WithPolicies(source string, policies []manifest.Document) string {
	var b strings.Builder
	b.WriteString(source)
	for _, doc := range policies {
		fmt.Fprintf(&b, "# %s\n---\n%s", doc.Place(""), doc.YAML())
	}
	return b.String()
}

// Reserved reports whether "from" takes a name for another thing than an entry under callers or workloads.
func Reserved(name string) bool {
	return name == Plaintext || name == Anonymous || strings.HasPrefix(name, "spiffe://")
}

// DefaultIP is the address of the workload at an index. No other default lies in its block.
func DefaultIP(i int) netip.Addr {
	return netip.AddrFrom4([4]byte{10, 64, byte(i >> 8), byte(i + 1)})
}

// DefaultIdentity is the SPIFFE ID of a workload without an identity of its own. It fails where the names make no SPIFFE ID.
func DefaultIdentity(td spiffeid.TrustDomain, namespace, account string) (spiffeid.ID, error) {
	return spiffeid.FromSegments(td, "ns", namespace, "sa", account)
}
