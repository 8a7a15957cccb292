package suite

import "github.com/meshproof/meshproof/policy"

// Fault is a mistake in what brings policies to Envoy, beside the filters. A suite that
// passes with one proves nothing about it.
type Fault struct {
	// StaleTrust signs every caller's certificate with a CA that came after the bundles
	// that Envoy has: Envoy missed a rotation.
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
