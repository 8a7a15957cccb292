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

// soundIdentities are the SVIDs of victim and attacker. Their rows show that the policies
// work.
func soundIdentities() []adversary.Identity {
	return []adversary.Identity{
		{Name: "the-victim-itself", Template: certs.Template{URIs: []string{victim.String()}}, SignedBy: domain, NamesVictim: true},
		{Name: "the-attacker-itself", Template: certs.Template{URIs: []string{attacker.String()}}, SignedBy: domain},
	}
}

// identityColumns are the policies on the victim. Matchers read all URI SANs as one text,
// and named rules read each SAN.
var identityColumns = []string{
	"matcher-deny-exact", "matcher-deny-prefix", "matcher-allow-exact", "matcher-allow-prefix",
	"rules-deny-exact", "rules-deny-prefix", "rules-allow-exact", "rules-allow-prefix",
}

// unjudged is the inbound without a policy. It shows the XFCC header of the upstream.
const unjudged = "unjudged"

// onVictim returns the program of a column. The rules of GEP-3779 only allow, on L4, so a
// deny is an allow of all other callers.
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
		gate = denyGate(layer, policy.Is{Attribute: attribute.Identity, Match: match})
	case strings.HasPrefix(column, "matcher-allow"):
		gate = allowGate(layer, policy.Is{Attribute: attribute.Identity, Match: match})
	case strings.HasPrefix(column, "rules-deny"):
		gate = rule(unprotected, policy.Not{Condition: policy.Is{Attribute: attribute.URISAN, Match: match}})
	default:
		gate = rule(protected, policy.Is{Attribute: attribute.URISAN, Match: match})
	}
	return policy.Program{Gates: []policy.Gate{gate}}
}

func rule(origin string, when policy.Condition) policy.Gate {
	return policy.Gate{Layer: policy.L4, Form: policy.Named, Rules: []policy.Rule{{Verdict: policy.Verdict{Effect: policy.Allow, Origin: origin}, When: when}}}
}

// claim is one identity at one inbound, with its evidence.
type claim struct {
	identity adversary.Identity
	column   string
	protocol policy.Protocol
	evidence evidence.Evidence
	finding  evidence.Finding
}

// misnamed are the identities with a name that the access log or XFCC shortens: an empty
// name, or a space at the end. The sides of the evidence then name different peers.
var misnamed = []string{"empty-uri-last", "space-behind"}

// measureIdentities calls the inbound of each column with each identity, over http and tcp.
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

// cell returns the answer of the caller and the deciding policy.
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

// short abbreviates the SPIFFE IDs in the cells.
var short = strings.NewReplacer(victim.String(), "victim", attacker.String(), "attacker", adversary.Sibling(domain).IDString(), "sibling")

// tabulateIdentities returns a table of the claims over http, with one row for each
// identity. The last column is the XFCC header of the upstream.
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
			told = escapeCell(short.Replace("URI=" + uris))
		}
		last.cells = append(last.cells, told)
		out.rows = append(out.rows, last)
		last = row{}
	}
	return out
}
