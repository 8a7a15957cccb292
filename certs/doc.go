// Package certs mints SPIFFE identities in process for a test mesh.
//
// An [Authority] is the CA of one trust domain, a [Federation] a family of them, a [Credential] a certificate chain
// with its private key, a [BundleSet] what a verifier trusts.
//
// # What it guarantees
//
// A credential from [Authority.Mint] is a sound X.509-SVID: it has passed go-spiffe's own verification against its
// Authority's bundle before the caller sees it. A credential from [Authority.Forge] is what its [Template] says, byte
// for byte in its names, and signed by a real CA, however unsound: expired, nameless, with several names, with a name
// of a foreign trust domain. A forged credential is never repaired and never checked.
//
// Private keys stay in memory. The package writes no file and no log, and [Credential.KeyPEM] is the only call that
// returns key material. Printing, logging or marshalling a Credential or an Authority names its identity; dumpers
// that walk unexported fields by reflection find no key either, because keys are held in closures.
//
// # What it does not do
//
// There is no revocation, no name constraint (a CA can sign any name, which is what makes forgery testable), no
// JWT-SVID and no persistence: CAs end with the process. The CAs are for tests and must not be trusted outside them.
package certs
