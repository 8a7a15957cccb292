// Package caller sends requests as one caller: from the address and to the
// destination that the call plays, with any credential, sound or not. [Do] sends one
// over a connection of its own, a [Line] several over one connection, one after the
// other.
//
// It guarantees that the request goes out as stated, byte for byte where the
// protocol lets it, and that a failure is told apart by who caused it: a remote
// TLS alert, a connection closed without a byte, an answer, or the transport. It
// draws no conclusion on policies.
package caller
