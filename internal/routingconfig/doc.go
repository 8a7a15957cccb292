// Package routingconfig compiles the outbound side of a sidecar, which package
// internal/routing holds, to the messages of Envoy: a route configuration and a network filter
// for each outbound, and a cluster for each backend.
//
// It guarantees that Envoy sends each request where [routing.Outbound.Decide] says, and that
// each bound of the program is set at its level: what has no limit is switched off in words,
// because Envoy's defaults would cut. What a message cannot say is an error with the name of
// the route or the cluster. It knows no address, no certificate and no listener: the control
// plane adds these.
package routingconfig
