// Package refusal says which requests the authorizer of the lab refuses, as a condition that
// programs are made of.
//
// It guarantees that the condition is met where package authorizer says that the request does not
// pass. It knows no policies of a dialect and no filters.
package refusal

import (
	"github.com/meshproof/meshproof/internal/authorizer"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// Refused returns the requests of a layer that an authorizer refuses.
func Refused(a authorizer.Authorizer, layer policy.Layer) policy.Condition {
	switch {
	case a.Unreachable && a.FailOpen:
		return policy.Never
	case a.Unreachable:
		return policy.Always
	case layer == policy.L4:
		return policy.Not{Condition: attribute.SNI.Exact(authorizer.ServerName)}
	default:
		return policy.Not{Condition: attribute.Header(authorizer.Header).Exact(authorizer.Value)}
	}
}
