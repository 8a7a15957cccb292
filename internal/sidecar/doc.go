// Package sidecar reads what a live sidecar enforces: the RBAC filters of each of
// its inbounds, out of the configuration dump of an Envoy's admin interface
// ([Dump]), out of files ([Folder]), or from a control plane over ADS ([Fetch]).
//
// It guarantees that what it does not understand is named, never passed over: a
// filter of another kind, a type that is not linked into the program, a field or an
// enumerator that the xDS API did not have when this was built, a matcher input
// that says something no policy says, an extension configuration or a route
// configuration that is not there. [Unknown] tells where each of them stands and
// what it means for a replay: [Inbound.Incomplete] is set where [Inbound.Filters] is
// not all that authorizes there. Bad input is an error or an Unknown, never a panic.
//
// It does not judge requests, it runs no Envoy, and it does not know policies. It
// does not read what decides nothing: access logs, tracing, statistics, clusters,
// secrets. Whether a type is understood there is not told.
package sidecar
