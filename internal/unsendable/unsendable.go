// Package unsendable looks at the requests that the lab cannot send: at paths that its listeners
// rewrite, at methods, queries, lines of headers and server names that its client refuses, at names
// that its CAs do not sign. An Envoy elsewhere may meet them.
//
// It guarantees that it finds each kind that only one of two programs lets in, or says what it
// did not search. It asks no Envoy: it is for two programs
// that are known as a whole.
package unsendable

import (
	"fmt"
	"net/netip"

	"github.com/meshproof/meshproof/internal/destination"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/classes"
)

// mostNamed is how many kinds of requests are named.
const mostNamed = 3

// Widened says which requests the second program lets in and the first does not, one sentence
// for each kind. The first sentences name requests, and the others what was not searched. It
// leaves out what the classes of requests that are asked show too: the same rules let those in.
// The function arrives, nil for every request, tells which requests get as far as the programs.
func Widened(asked *classes.Cover, on classes.Surface, specified, enforced policy.Program, arrives func(policy.Request) bool) []string {
	type decisions struct{ specified, enforced policy.Decision }
	both := func(r policy.Request) (d decisions, widened bool) {
		d = decisions{policy.Decide(specified, r), policy.Decide(enforced, r)}
		return d, d.specified.Effect == policy.Deny && d.enforced.Effect != policy.Deny
	}
	shown := map[decisions]bool{}
	for _, class := range asked.Classes {
		// A caller without a name stands for others who have names that the lab's CAs do not sign. TLS keeps it out, so
		// that it shows nothing of them.
		if r := class.Witness; len(r.URIs)+len(r.DNS) > 0 {
			d, _ := both(r)
			shown[d] = true
		}
	}
	on.AnyText, on.TrustDomains = true, nil
	cover := classes.Cut(on, specified, enforced)
	var kinds []classes.Class
	for _, class := range cover.Classes {
		if d, widened := both(class.Witness); !widened || shown[d] || arrives != nil && !arrives(class.Witness) {
			continue
		}
		kinds = append(kinds, class)
	}
	out := textOf(kinds, "not asked, and let in though the policies deny it")
	for _, reason := range cover.Sampled {
		out = append(out, NotSearched(reason))
	}
	return out
}

// Elsewhere says which requests the two programs decide otherwise where the inbound has another
// destination address, one sentence for each kind, and then what was not searched. A workload of the
// policies may have any address, and an inbound of the lab has one.
func Elsewhere(on classes.Surface, specified, enforced policy.Program) []string {
	if !destination.IsAsked(specified, enforced) {
		return nil
	}
	known := on.Destination
	on.Destination = netip.Addr{}
	cover := classes.Cut(on, specified, enforced)
	var kinds []classes.Class
	for _, class := range cover.Classes {
		r := class.Witness
		if r.Destination.IsValid() && r.Destination.Unmap() != known && policy.Decide(specified, r).Effect != policy.Decide(enforced, r).Effect {
			kinds = append(kinds, class)
		}
	}
	out := textOf(kinds, "not asked, and decided otherwise than by the policies")
	for _, reason := range cover.Sampled {
		out = append(out, "of requests to other destination addresses, "+reason)
	}
	return out
}

// textOf has a sentence for each of the first kinds of requests, and one that counts the others.
func textOf(kinds []classes.Class, what string) (out []string) {
	for _, class := range kinds[:min(mostNamed, len(kinds))] {
		out = append(out, fmt.Sprintf("%s: %s", class, what))
	}
	if more := len(kinds) - mostNamed; more > 0 {
		out = append(out, fmt.Sprintf("%d more kinds of such requests", more))
	}
	return out
}

// NotSearched is the sentence about what a cover samples.
func NotSearched(reason string) string { return "of requests that the lab cannot send, " + reason }
