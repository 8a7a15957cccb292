// Package inspect answers what the MeshTrafficPermissions of a folder do to the
// inbounds of its Dataplanes, over HTTP: as Kuma's Inspect API does, and on one
// page for people.
//
// It guarantees that an answer is given for the inbound that was asked for and
// for no other: each part of the identifier in the path is held against the
// Dataplane. A malformed identifier is a 400, one that names nothing a 404, both
// as problem objects, and no request is answered with a 5xx. What applies is
// listed in the order of concatenation with its origin; what does not apply, has
// no effect or hides something is a warning beside it. Every answer has the form
// that the OpenAPI document at /openapi.yaml states.
//
// Files are read once, by [Load]. The package does not ask Envoy, it knows no
// kind of policy but MeshTrafficPermission, and it does not authenticate its
// callers: listen on loopback, or behind something that does.
package inspect
