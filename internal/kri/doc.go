// Package kri reads and writes Kuma resource identifiers. Envoy reports policies under
// these names:
//
//	kri_<type>_<mesh>_<zone>_<namespace>_<name>_<section>
//
// The format has no escaping. It is unambiguous because only the last field may have an
// underscore. The package guarantees that: [KRI.Validate] refuses a field that would be
// read back as another, and [Parse] accepts exactly the identifiers that Validate
// accepts.
//
// It knows the resource types that this module uses, and no others.
package kri
