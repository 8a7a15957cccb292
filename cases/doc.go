// Package cases holds the case files and reads them.
//
// A case states workloads, policies and requests, and what has to become of each
// request. The package guarantees that a case it returns is complete: every
// caller, inbound and value that a request names exists and is well formed, and
// whatever it refuses, it refuses with file, line and field. The policies
// themselves stay unread; their dialect parses them.
//
// The user stories under this folder are embedded, so that the command line can
// run them anywhere. Package internal/suite runs cases; this one knows no Envoy.
package cases
