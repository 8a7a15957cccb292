package certs_test

import (
	"testing"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/certs"
)

func BenchmarkMint(b *testing.B) {
	for name, opts := range map[string][]certs.AuthorityOption{
		"root":         nil,
		"intermediate": {certs.WithIntermediate()},
	} {
		b.Run(name, func(b *testing.B) {
			td := spiffeid.RequireTrustDomainFromString("trust-domain.mesh")
			a, err := certs.NewAuthority(td, opts...)
			if err != nil {
				b.Fatal(err)
			}
			id := spiffeid.RequireFromPath(td, "/ns/default/sa/backend")
			b.ReportAllocs()
			for b.Loop() {
				if _, err := a.Mint(id); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
