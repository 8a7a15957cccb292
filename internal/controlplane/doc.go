// Package controlplane serves listeners with authorization filters to Envoy over delta ADS,
// and reads the access log that Envoy streams back.
//
// It guarantees that [ControlPlane.Push] returns nil only when the configuration is live: Envoy has
// acknowledged it, and the data path answers with the new version. Every message is
// checked by the validation rules of its own definition before it is sent.
//
// The package does not run Envoy, and it sends no requests to the inbounds.
package controlplane
