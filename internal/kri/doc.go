// Package kri reads and writes Kuma resource identifiers, the names under which
// Envoy reports the policies it enforces:
//
//	kri_<type>_<mesh>_<zone>_<namespace>_<name>_<section>
//
// The format has no escaping: it is unambiguous only because no field but the
// last may contain an underscore. The package guarantees that: [KRI.Validate]
// refuses a field that would be read back differently, [Parse] takes what it
// accepts and nothing else, and both are inverse to each other.
//
// It knows the resource types this module deals with, not all of Kuma's.
package kri
