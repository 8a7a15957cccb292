// Package xds turns decision programs into Envoy configuration and serves it.
//
// It guarantees that Envoy decides by the filters as [policy.Decide] decides: with the
// same origin, for every request. It checks every message by the message's own
// validation rules before it sends it. [ControlPlane.Push] returns nil only when
// the configuration is live: Envoy has acknowledged it, and the data path answers
// with the new version.
//
// It does not know any policy dialect, it does not run Envoy, and it does not
// send requests to the inbounds it configures.
package xds
