// Package routeclasses cuts the requests to an outbound into classes that its routes decide
// alike.
//
// It guarantees that [routing.Outbound.Decide] gives all requests of a class the same route, that
// each class has a witness, and that a cover of examples says so, see package policy/classes. It
// does not look at the callers of an outbound.
package routeclasses

import (
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/classes"
)

// Cut cuts the requests to an outbound into classes that the routes of each of the outbounds
// decide alike. Two outbounds, which are of one protocol, give classes that compare them.
func Cut(outbounds ...routing.Outbound) *classes.Cover {
	programs := make([]policy.Program, len(outbounds))
	for i, o := range outbounds {
		programs[i] = o.Program()
	}
	return classes.Cut(classes.Surface{Protocol: outbounds[0].Protocol, Normalization: routing.Normalization}, programs...)
}
