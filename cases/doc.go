// Package cases reads case files, and holds the built-in ones.
//
// A case states workloads, policies and requests, and the outcome that each request
// must have. [Parse] reads the cases of one file, [Load] those of files and folders.
// [Stories] returns the built-in cases: the user stories of each dialect, and traps.
// docs/cases.md describes the format.
//
// What the package guarantees:
//   - A case is complete: every caller, inbound and value that a request names exists
//     and is well formed.
//   - Every refusal names the file, the line and the field.
//   - The lists of a request are crossed: a [Request] is one request.
//
// What it does not: it does not read the policies of a case, which are documents for
// their dialect, and it runs nothing. Package conformance runs cases on Envoy.
package cases
