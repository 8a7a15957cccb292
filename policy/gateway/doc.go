// Package gateway is the dialect of Gateway API: the AuthorizationPolicy of
// GEP-3779, which selects pods by their labels and names the callers that they let
// in.
//
// It guarantees that a policy it accepts means the same to the program and to the
// second opinion, two implementations that share nothing but the parsed text, and
// that a refusal names file, line and field.
//
// Its program judges connections, plaintext ones too, whatever the inbound speaks.
// It knows nothing of Envoy.
package gateway
