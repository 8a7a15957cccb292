// Package routingconfig compiles the outbound side of a sidecar, which package
// internal/routing holds, to the messages of Envoy: a route configuration and a network filter
// for each outbound, and a cluster for each backend.
//
// It guarantees that Envoy sends each request where [routing.Outbound.Decide] says, and that
// each bound of the program is set at its level. A bound without a limit is switched off
// explicitly: otherwise Envoy would use its default. Where no message can express a program, Compile
// returns an error that names the route or the cluster. The package knows no address, no
// certificate and no listener: the control plane adds these.
package routingconfig
