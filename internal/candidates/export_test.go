package candidates

import "github.com/meshproof/meshproof/policy"

// OfAny returns the index of a program, however short.
func OfAny(p policy.Program) *Index { return indexOf(p, 0) }
