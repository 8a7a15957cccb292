// Package knowncaller answers what programs ask about a caller, where the caller is known.
//
// A class of requests has a witness, and the class of "an address, or a name" may have one with the name.
// Another caller is in that class with some requests of it alone. So the classes of one caller are cut from
// programs that no longer ask for names.
//
// The package guarantees that a program decides each request of the caller as before. It says nothing of the
// requests of others.
package knowncaller

import (
	"slices"

	"github.com/meshproof/meshproof/internal/rewrite"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// names are the attributes that are names of a caller.
var names = []*policy.Attribute{attribute.Identity, attribute.URISAN, attribute.DNSSAN}

// Settle returns the program with each question for the names of a caller answered. The caller has the names of
// URI SANs, and no others.
func Settle(p policy.Program, uris ...string) policy.Program {
	return settle(p, names, policy.Request{URIs: uris})
}

// InPlaintext returns the program as callers without TLS meet it: they have no name, and send no server name.
func InPlaintext(p policy.Program) policy.Program {
	return settle(p, append(slices.Clone(names), attribute.SNI), policy.Request{})
}

func settle(p policy.Program, known []*policy.Attribute, of policy.Request) policy.Program {
	return rewrite.Program(p, func(_ policy.Layer, is policy.Is) policy.Condition {
		if slices.Contains(known, is.Attribute) {
			return policy.Constant(is.Holds(&of))
		}
		return is
	})
}
