// This folder adds an attribute to the project: the port of the caller. A test compiles
// the project with its files on top, to show that an attribute needs these three files and
// no other. This file goes into policy/attribute.

package attribute

import "github.com/meshproof/meshproof/policy"

// SourcePort is the port of the caller.
var SourcePort = add(&policy.Attribute{
	Name:   "source-port",
	Phrase: "source port",
	Layer:  policy.L4,
	Text:   func(r *policy.Request) (string, bool) { return valueAt(r.Others["source-port"], 0) },
	Kinds:  []policy.MatchKind{policy.Exact},
	Forms:  []policy.Form{policy.Ordered},
})
