// Package conversion rewrites MeshTrafficPermissions for another of their three
// options.
//
// It guarantees that the rewritten policies let in and refuse the same requests on
// every inbound. The names in Envoy's evidence, and what the shadow says of a plain
// allow, differ by design; the notes of a conversion say so.
package conversion
