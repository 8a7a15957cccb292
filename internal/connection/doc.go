// Package connection sends calls as one caller. It plays a source and a destination
// address, and shows any credential, sound or not. A [Connection] carries one call or
// several, one after the other.
//
// The package guarantees that a request goes out as stated, byte for byte where the
// protocol permits it. It also guarantees that a failure names its cause: a TLS alert of
// the other side, a connection that the other side closed without a byte, or a failure
// of the transport. The package knows nothing about policies.
package connection
