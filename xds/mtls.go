package xds

import "errors"

// ErrNACK is wrapped by the error of a push that Envoy refused. The previous
// configuration stays live.
var ErrNACK = errors.New("refused by Envoy")

// MTLS says which callers an inbound accepts.
type MTLS uint8

const (
	// Strict accepts callers with an SVID of a trusted trust domain only.
	Strict MTLS = iota
	// Permissive accepts plaintext too, on a filter chain of its own without any
	// authorization. It verifies and judges TLS callers as a strict inbound does.
	Permissive
	// PermissiveJudged accepts plaintext too, and judges it as a caller without a
	// name.
	PermissiveJudged
)
