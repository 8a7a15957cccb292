// Package output keeps standard output for the answers of the compiler.
//
// It guarantees that what the libraries of Istio write to standard output goes to standard
// error. Some of them log while they are initialized. Go initializes this package before
// them, because it imports none of them and its path comes first.
package output

import "os"

// Answers is the standard output of the process.
var Answers = os.Stdout

func init() { os.Stdout = os.Stderr }
