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
