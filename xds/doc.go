// Package xds compiles decision programs to Envoy's authorization filters.
//
// [Compile] makes [Filters] of a [policy.Program]. The package guarantees that Envoy
// decides by the filters as [policy.Decide] decides by the program: with the same origin,
// for every request. A program that Envoy cannot express is an error that names the part.
//
// It does not know any policy dialect, and it does not run Envoy: package harness serves
// filters to a real Envoy, and reports what Envoy logged of each request as an [AccessLog].
package xds
