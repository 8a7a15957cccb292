package suite

import (
	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/policy"
)

// Fault is a mistake in what brings policies to Envoy, beside the filters. A suite that
// passes with one proves nothing of what it is about.
type Fault struct {
	// StaleTrust signs every caller's certificate with a CA that came after the bundles
	// which Envoy has: it missed a rotation.
	StaleTrust bool
	// RawPaths leaves out the normalization of paths.
	RawPaths bool
}

func (f Fault) normalization(n policy.PathNormalization) policy.PathNormalization {
	if f.RawPaths {
		return policy.PathNormalization{Raw: true, KeepSlashes: true, EscapedSlashes: policy.KeepEscapedSlashes}
	}
	return n
}

// authority returns the CA of a trust domain that signs callers' certificates.
func (w wallet) authority(td spiffeid.TrustDomain) (*certs.Authority, error) {
	if w.rotated != nil {
		return w.rotated.Authority(td)
	}
	return w.mesh.Authority(td)
}

// newWallet is a wallet whose certificates the mesh trusts, unless the fault is that it
// does not.
func newWallet(mesh *harness.Mesh, f Fault) wallet {
	w := wallet{mesh: mesh, known: map[string]*certs.Credential{}}
	if f.StaleTrust {
		w.rotated = new(certs.Federation)
	}
	return w
}
