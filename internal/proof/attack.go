package proof

import (
	"slices"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/adversary"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/classes"
)

// mostVictims is how many identities of an inbound are impersonated.
const mostVictims = 3

// unlogged are the identities of which Envoy's log says less than the certificate has, so
// that the evidence contradicts itself. Package adversary tests what becomes of them.
var unlogged = []string{"empty-uri-last", "space-behind"}

// Attack adds the requests of an adversary. Its victims are some identities that each
// inbound lets in. For each victim it adds the certificates of package adversary, which look
// like the victim's, each with a request that the victim may make. If the policies deny such
// a caller, the request must not be served, whether mTLS or a policy keeps the caller out.
// Attack returns the number of requests.
func (p *Proof) Attack() int {
	before := len(p.asked)
	for i, in := range p.Inbounds {
		var victims []string
		for class, c := range in.Cover.Classes {
			if len(c.Witness.URIs) != 1 || len(victims) == mostVictims || policy.Decide(in.Program, c.Witness).Effect != policy.Allow {
				continue
			}
			victim, err := spiffeid.FromString(c.Witness.URIs[0])
			if err != nil || slices.Contains(victims, victim.String()) {
				continue
			}
			victims = append(victims, victim.String())
			p.impersonate(i, class, victim)
		}
	}
	return len(p.asked) - before
}

// impersonate adds the requests of one victim.
func (p *Proof) impersonate(i, class int, victim spiffeid.ID) {
	in := p.Inbounds[i]
	for _, id := range adversary.Identities(victim) {
		r := in.Cover.Classes[class].Witness
		r.URIs, r.DNS = id.Template.URIs, id.Template.DNS
		if slices.Contains(unlogged, id.Name) || policy.Decide(in.Program, r).Effect == policy.Allow {
			continue
		}
		q := cases.Request{
			From: cases.Caller{Name: id.Name + " as " + victim.String(), Template: id.Template, SignedBy: id.SignedBy},
			To:   in.String(), Method: r.Method, Path: r.Path, Want: cases.Refused,
		}
		p.add(q, ask{inbound: i, class: classes.Unclassed, request: r})
	}
}
