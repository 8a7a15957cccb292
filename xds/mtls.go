package xds

import "github.com/meshproof/meshproof/internal/mtls"

// MTLS says which callers an inbound accepts. The zero value means [Strict].
type MTLS = mtls.Mode

const (
	// Strict accepts callers with an SVID of a trusted trust domain only.
	Strict = mtls.Strict
	// Permissive accepts plaintext too, on a filter chain of its own. It verifies and
	// judges TLS callers as a strict inbound does.
	Permissive = mtls.Permissive
	// Disable accepts plaintext only. A TLS caller meets no filter chain.
	Disable = mtls.Disable
)
