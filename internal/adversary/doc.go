// Package adversary is a library of attacks on an authorization policy: certificates that
// almost have the name of another workload, and requests that almost ask for a protected
// path, method or header.
//
// [Identities] changes the SPIFFE ID that a policy names, [Requests] changes a protected
// method and path, [Headers] changes a header that a policy reads. All attacks are plain
// data with stable names, in a fixed order, so a report or a golden file can refer to them.
// [certs.Authority.Forge] issues the certificates. The Send of a harness's mesh sends the
// requests. [Request.Exchange] sends the requests that an HTTP library would change.
// Package proof uses the identities; only tests use the requests.
//
// The package guarantees that no identity is the sound SVID of the victim itself, and that
// Exchange writes a request byte for byte. The file testdata/measured.txt has the answer of
// every pinned version of Envoy to each attack. Below each table it lists the attacks that
// get around a policy. The tests measure one version again. They fail in three cases: an
// exact allow of the victim allows another certificate, a denied path or method reaches
// the upstream, or an allow lets more through than the allowed request.
//
// The list is not complete. The package also does not judge how an upstream reads an
// allowed path.
package adversary
