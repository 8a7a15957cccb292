// Package plugins has the compilers of other projects, which stand beside meshproof's own as
// one more opinion. Each folder is a Go module with its own pins, so that this module does not
// build their code.
//
// The tests of this package hold meshproof against the answers that a compiler gave before,
// see package recording. They guarantee that each case has an answer: a new case fails until
// "make fourth" has asked the compiler about it.
package plugins
