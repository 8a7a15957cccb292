// Package matrix runs cases on several versions of Envoy: each cell of the matrix is a case on a version.
//
// [Suite] says which cases, which compiler and which versions. [Selection] says what the compiler claims, and so which cases
// count. [Shard] is the part of the cases that one machine runs. [Suite.Run] serves a program, [Run] a test.
//
// The package guarantees that every case of the chosen profiles is in the report: passed, failed, or skipped with the reason.
// A case never fails for a feature that the compiler does not claim. It is never left out for a feature that it claims.
package matrix
