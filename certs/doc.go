// Package certs mints SPIFFE identities in process for a test mesh. It is a test CA for other test suites too.
//
// An [Authority] is the CA of one trust domain, a [Federation] a family of CAs. A [Credential] is a certificate chain
// with its private key.
//
// # What it guarantees
//
// A credential from [Authority.Mint] is a sound X.509-SVID: go-spiffe has verified it against the bundle of its
// Authority before the caller sees it. A credential from [Authority.Forge] is exactly what its [Template] describes,
// byte for byte in its names, and a real CA has signed it. It may be expired, have no name, several names or a name
// of a foreign trust domain. The package never repairs and never checks a forged credential.
//
// Private keys stay in memory. The package writes no file and no log, and [Credential.KeyPEM] is the only call that
// returns key material. A Credential or an Authority that is printed, logged or encoded shows its identity only. Tools
// that walk unexported fields by reflection find no key either, because keys are held in closures.
//
// # What it does not do
//
// There is no revocation, no name constraint (a CA can sign any name, which makes forgery testable), no JWT-SVID and
// no storage: CAs end with the process. The CAs are for tests. Trust them nowhere else.
package certs
