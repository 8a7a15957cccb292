package classes

import "github.com/meshproof/meshproof/policy"

// UpTo is Of with another limit on the number of classes.
func UpTo(limit int, on Surface, programs ...policy.Program) *Cover {
	return cut(limit, on, programs)
}
