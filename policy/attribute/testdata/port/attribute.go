// This folder adds an attribute to the project: the port of the inbound. A test compiles
// the project with its files on top, to show that an attribute needs these three files and
// no other. This file goes into policy/attribute.

package attribute

import "github.com/meshproof/meshproof/policy"

// Port is the port of the inbound.
var Port = add(&policy.Attribute{
	Name:   "port",
	Phrase: "port",
	Layer:  policy.L4,
	Text:   func(r *policy.Request) (string, bool) { return valueAt(r.Others["port"], 0) },
	Kinds:  []policy.MatchKind{policy.Exact},
	Forms:  []policy.Form{policy.Ordered},
})
