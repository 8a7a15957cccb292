// Package xds turns decision programs into Envoy configuration and serves it.
//
// It guarantees three things. [Compile] keeps the meaning of a program: Envoy,
// configured with its filters, decides every request as [policy.Decide] does,
// and names the same origin. Every message is held against its own validation
// rules before it leaves. And [ControlPlane.Push] returns nil only once the
// configuration is proven live: acknowledged by Envoy and then read back through
// the data path, never guessed from a delay.
//
// It does not know any policy dialect, it does not run Envoy, and it does not
// send requests to the inbounds it configures.
package xds
