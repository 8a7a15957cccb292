// Package adversary is a library of callers and requests that try to get around
// an authorization policy: certificates that almost name somebody, and requests
// that almost ask for something.
//
// [Identities] mutates the SPIFFE ID that a policy names, [Requests] the method
// and path that it protects, [Headers] a header that it looks at. All of them are
// plain data with stable names, in a fixed order, so that a report or a golden
// file can refer to them. [certs.Authority.Forge] issues the certificates;
// the requests go out through the Send of a harness's mesh, or, where an HTTP
// library would tidy them up, through [Request.Exchange].
//
// The package guarantees that none of the identities is the sound SVID of the
// victim itself, and that Exchange writes what a request says, byte for byte. What
// Envoy makes of each of them, on every pinned version, stands in
// testdata/measured.txt, with the ways around a policy listed below each table.
// The tests measure one version again, and fail where a matcher that allows the
// victim exactly admits anybody else, where a denied path or method reaches the
// upstream as such, or where anything but the allowed one does.
//
// It does not say that the list is complete, and it does not judge: what an
// upstream makes of a path that was let through is the upstream's business.
package adversary
