// Package gateway is the dialect of Gateway API: the AuthorizationPolicy of
// GEP-3779, which selects pods by their labels and names the callers that they let
// in.
//
// It guarantees that the program and the second opinion decide alike: the two
// implementations share nothing but the parsed text. A refusal names file, line and
// field.
//
// Its program judges connections, plaintext ones too, whatever the inbound speaks.
// It knows nothing of Envoy.
package gateway
