// Package sidecar reads what a live sidecar enforces: the RBAC filters of each of
// its inbounds, out of the configuration dump of an Envoy's admin interface
// ([Dump]), out of files ([Folder]), or from a control plane over ADS ([Fetch]).
//
// It guarantees that it names what it does not understand: a filter of another kind, a
// type that is not linked into the program, a field or an enumerator that the xDS API did
// not have when this was built, a matcher input that no policy can ask for, an extension
// configuration or a route configuration that is missing. [Unknown] tells the place of
// each, and what it means for a replay: [Inbound.Incomplete] is set where
// [Inbound.Filters] is not the whole authorization. Bad input is an error or an Unknown,
// never a panic.
//
// It judges no request, runs no Envoy and knows no policy. It does not read access logs,
// tracing, statistics, clusters and secrets: they decide nothing, and what is not
// understood there is not told. Package xds/lift turns the filters back into a program.
package sidecar
