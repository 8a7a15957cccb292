package attribute

import "github.com/meshproof/meshproof/policy"

// Port is the port of the inbound.
var Port = add(&policy.Attribute{
	Name:   "port",
	Phrase: "port",
	Layer:  policy.L4,
	Value:  func(r *policy.Request, i int) (string, bool) { return valueAt(r.Others["port"], i) },
	Kinds:  []policy.MatchKind{policy.Exact},
	Forms:  []policy.Form{policy.Ordered},
})
