// Package inspect answers what the MeshTrafficPermissions of a folder do to the
// inbounds of its Dataplanes, and what its routes and MeshTimeouts do to the requests
// that the Dataplanes send, over HTTP: as Kuma's Inspect API does, and on one page for
// people.
//
// It guarantees that an answer is about the inbound in the request and no other: each
// part of the identifier in the path is compared with the Dataplane. A malformed
// identifier is answered with 400, an unknown one with 404, both as problem objects.
// No request is answered with a 5xx. Rules that apply are listed with their origin, in
// the order of concatenation. Policies that do not apply or have no effect are warnings
// beside the rules. Every answer has the form that the OpenAPI document at
// /openapi.yaml states.
//
// Documents are read once, by [Parse]. The package reads no files and does not ask Envoy.
// It does not authenticate its callers: listen on loopback, or behind a proxy that
// authenticates them.
package inspect
