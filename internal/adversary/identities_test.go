package adversary_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/internal/adversary"
	"github.com/meshproof/meshproof/internal/envoy"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// sound are the two who are who they are; their rows show that the policies work.
func sound() []adversary.Identity {
	return []adversary.Identity{
		{Name: "the-victim-itself", Template: certs.Template{URIs: []string{victim.String()}}, SignedBy: domain, NamesVictim: true},
		{Name: "the-attacker-itself", Template: certs.Template{URIs: []string{attacker.String()}}, SignedBy: domain},
	}
}

// identityColumns are the policies on the victim, as matchers, which see all URI
// SANs as one text, and as named rules, which see each SAN.
var identityColumns = []string{
	"matcher-deny-exact", "matcher-deny-prefix", "matcher-allow-exact", "matcher-allow-prefix",
	"rules-deny-exact", "rules-deny-prefix", "rules-allow-exact", "rules-allow-prefix",
}

// unjudged is the inbound without a policy, which shows what the upstream is told.
const unjudged = "unjudged"

// onVictim returns the program of a column. Rules are those of GEP-3779, which only
// allow, on L4: they deny by allowing whoever is not the victim.
func onVictim(column string, layer policy.Layer) policy.Program {
	match := policy.Match{Value: victim.String()}
	if strings.HasSuffix(column, "prefix") {
		match.Kind = policy.Prefix
	}
	var gate policy.Gate
	switch {
	case column == unjudged:
		return policy.Program{}
	case strings.HasPrefix(column, "matcher-deny"):
		gate = denying(layer, policy.Is{Attribute: attribute.Identity, Match: match})
	case strings.HasPrefix(column, "matcher-allow"):
		gate = allowing(layer, policy.Is{Attribute: attribute.Identity, Match: match})
	case strings.HasPrefix(column, "rules-deny"):
		gate = rule(rest, policy.Not{Of: policy.Is{Attribute: attribute.URISAN, Match: match}})
	default:
		gate = rule(named, policy.Is{Attribute: attribute.URISAN, Match: match})
	}
	return policy.Program{Gates: []policy.Gate{gate}}
}

func rule(origin string, when policy.Condition) policy.Gate {
	return policy.Gate{Layer: policy.L4, Form: policy.Named, Rules: []policy.Rule{{Verdict: policy.Verdict{Effect: policy.Allow, Origin: origin}, When: when}}}
}

// claim is one identity at one inbound, with what came of it.
type claim struct {
	identity adversary.Identity
	column   string
	protocol policy.Protocol
	evidence evidence.Evidence
	finding  evidence.Finding
}

// misnamed are the identities of which access log or XFCC drop a part, so that the
// sides of the evidence name different peers: an empty name and a space at the end.
var misnamed = []string{"empty-uri-last", "space-behind"}

// measureIdentities lets each identity call each column's inbound, over http and
// tcp.
func measureIdentities(t *testing.T, version string, identities []adversary.Identity) []claim {
	t.Helper()
	h := harness.New(t, harness.WithRuntime(envoy.Process), harness.WithEnvoy(version), harness.WithMeshes(1))
	spec := harness.MeshSpec{TrustDomains: []spiffeid.TrustDomain{domain, adversary.Sibling(domain)}}
	columns := append(slices.Clone(identityColumns), unjudged)
	protocols := []policy.Protocol{policy.HTTP, policy.TCP}
	for _, column := range columns {
		for _, protocol := range protocols {
			in := harness.Inbound{
				Name: protocol.String() + "/" + column, Identity: backend, Protocol: protocol,
				Address: netip.AddrPortFrom(netip.MustParseAddr("10.0.0.7"), uint16(8000+len(spec.Inbounds))),
			}
			if p := onVictim(column, protocol.Layer()); len(p.Gates) > 0 {
				in.Filters = compile(t, p.Gates...)
			}
			spec.Inbounds = append(spec.Inbounds, in)
		}
	}
	m := h.Mesh(t, spec)
	var claims []claim
	var requests []harness.Request
	for _, id := range identities {
		credential := must(must(m.Authority(id.SignedBy))(t).Forge(id.Template))(t)
		for _, column := range columns {
			for _, protocol := range protocols {
				claims = append(claims, claim{identity: id, column: column, protocol: protocol})
				requests = append(requests, harness.Request{To: protocol.String() + "/" + column, Credential: credential})
			}
		}
	}
	batch := must(m.Send(t.Context(), requests...))(t)
	for i := range claims {
		c := &claims[i]
		c.evidence = batch.Evidence[i]
		var err error
		if c.finding, err = c.evidence.Find(); err != nil && !slices.Contains(misnamed, c.identity.Name) {
			t.Errorf("%s at %s: %v", c.identity.Name, requests[i].To, err)
		}
	}
	return claims
}

// cell is what the caller saw and who decided.
func (c claim) cell() string {
	switch c.finding.Form {
	case evidence.HandshakeFailed:
		return "handshake"
	case evidence.Refused:
		if c.finding.Layer == policy.L4 {
			return "closed " + origin(c.finding.Verdict)
		}
	}
	if !c.finding.Judged {
		return fmt.Sprint(c.finding.Status)
	}
	return fmt.Sprint(c.finding.Status, " ", origin(c.finding.Verdict))
}

// short abbreviates what stands in many cells.
var short = strings.NewReplacer(victim.String(), "victim", attacker.String(), "attacker", adversary.Sibling(domain).IDString(), "sibling")

// tabulateIdentities lays the claims over http out, one row for each identity, with
// what the upstream is told in the last column.
func tabulateIdentities(claims []claim) table {
	out := table{title: identitiesTitle, rows: []row{{"identity", append(slices.Clone(identityColumns), "xfcc")}}}
	var last row
	for _, c := range claims {
		if c.protocol != policy.HTTP {
			continue
		}
		last.name = c.identity.Name
		if c.column != unjudged {
			last.cells = append(last.cells, c.cell())
			continue
		}
		told := "-"
		if c.evidence.Arrival != nil {
			_, uris, _ := strings.Cut(c.evidence.Arrival.XFCC(), ";URI=")
			told = plain(short.Replace("URI=" + uris))
		}
		last.cells = append(last.cells, told)
		out.rows = append(out.rows, last)
		last = row{}
	}
	return out
}
