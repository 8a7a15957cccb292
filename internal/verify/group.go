package verify

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/internal/destination"
	"github.com/meshproof/meshproof/internal/examination"
	"github.com/meshproof/meshproof/internal/mtls"
	"github.com/meshproof/meshproof/internal/peer"
	"github.com/meshproof/meshproof/internal/sidecar"
	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/xds"
)

// groups are the inbounds of a sidecar, those together that one proof is for: their filters
// are equal and come to the same program, they have the same surface, and the policies say
// the same of them.
type groups struct {
	keys  token.Keys
	list  []*group
	known map[groupKey][]*group
}

// groupKey is what equal inbounds have in common and can be hashed.
type groupKey struct {
	source        *source
	filters       string
	normalization policy.PathNormalization
	protocol      policy.Protocol
	mode          mtls.Mode
	trustedHops   int
}

type group struct {
	source   *source
	reading  *verdict.Reading
	filters  xds.Filters
	lifted   policy.Program
	lost     []string
	inbounds []string
}

// add puts an inbound into its group. It fails where policies are refused, and where there
// are too many groups.
func (g *groups) add(s *source, in cases.Inbound, enforced sidecar.Inbound) error {
	reading, err := s.readFor(in, enforced)
	if err != nil {
		return err
	}
	one := &group{source: s, reading: reading, filters: enforced.Filters, inbounds: []string{title(enforced)}}
	one.lifted, one.lost = enforced.Program()
	if asksForRequests(reading.Inbounds()[0].Program.Program) || asksForRequests(one.lifted) {
		for _, what := range enforced.Rewrites {
			one.lost = append(one.lost, what+" behind RBAC: the workload sees another request than RBAC has judged")
		}
	}
	if !enforced.Destination.IsValid() && destination.IsAsked(reading.Inbounds()[0].Program.Program, one.lifted) {
		one.lost = append(one.lost, "the policies or a filter ask for the address that callers connect to, and the sidecar does not say which address of IPv4 that is")
	}
	if why := reading.Inbounds()[0].Program.Tokens.WithKeys(g.keys).Difference(enforced.Tokens); why != "" && in.Protocol.Layer() == policy.L7 {
		one.lost = append(one.lost, "the policies and the sidecar's filter for tokens (JWT) demand other tokens: "+why)
	}
	if why := othersCAs(reading, enforced, one.lifted); why != "" {
		one.lost = append(one.lost, why)
	}
	if _, _, err := peer.Play(enforced.Filters, enforced.TrustedHops > 0); err != nil {
		one.lost = append(one.lost, err.Error())
	}
	one.lost = append(one.lost, askedElsewhere(reading.Inbounds()[0], enforced.Filters)...)
	// Filters without a listener say nothing of paths.
	if mesh, says := reading.Inbounds()[0].MeshNormalization(); says && enforced.Address.IsValid() && mesh != enforced.Normalization && (asksForPath(reading.Inbounds()[0].Program.Program) || asksForPath(one.lifted)) {
		one.lost = append(one.lost, fmt.Sprintf("the mesh config normalizes paths by %+v, and the sidecar by %+v", mesh, enforced.Normalization))
	}
	if gap := hopsGap(in.TrustedHops, enforced.TrustedHops); gap != "" && in.Protocol.Layer() == policy.L7 && asksForRemote(reading.Inbounds()[0].Program.Program, one.lifted) {
		one.lost = append(one.lost, gap)
	}
	if gap := modeGap(reading.Inbounds()[0].Program.MTLS, enforced); gap != "" {
		one.lost = append(one.lost, gap)
	}
	key := groupKey{s, bytesOf(enforced.Filters), enforced.Normalization, in.Protocol, modeOf(enforced), enforced.TrustedHops}
	for _, other := range g.known[key] {
		if one.equals(other) {
			other.inbounds = append(other.inbounds, one.inbounds...)
			return nil
		}
	}
	if len(g.list) == mostReplays {
		return fmt.Errorf("the sidecar has more than %d inbounds that differ: verify a part of its listeners at a time", mostReplays)
	}
	if g.known == nil {
		g.known = map[groupKey][]*group{}
	}
	g.known[key] = append(g.known[key], one)
	g.list = append(g.list, one)
	return nil
}

// askedElsewhere says in what the filters ask an authorizer otherwise than the policies do, or another
// one.
func askedElsewhere(in verdict.Inbound, f xds.Filters) []string {
	out := examination.AsksApart(in, f)
	for _, apart := range examination.ReachedApart(in, f) {
		out = append(out, "the sidecar "+apart)
	}
	return out
}

// othersCAs says which CAs are of other trust domains than that of the mesh, and may give callers names of the mesh; "" for none. They are
// there for names of their own. By a SPIFFE validator the first name of a certificate is of its CA's trust domain, so that a filter has to ask
// for another one. A SAN matcher takes each name of a certificate, also behind one of the mesh. One list of CAs for several trust domains is
// told on its own.
func othersCAs(reading *verdict.Reading, enforced sidecar.Inbound, lifted policy.Program) string {
	own := ownDomains(reading)
	isForeign := func(domain string) bool { return !slices.Contains(own, domain) }
	stated := "as --trust-domain or a case states it"
	if own[0] == casefile.DefaultTrustDomain {
		stated = "which is taken where neither --trust-domain nor a case states another"
	}
	text := func(cas, domains string) string {
		return fmt.Sprintf("%s of %s, and the trust domain of the mesh is %s, %s", cas, domains, own[0], stated)
	}
	if len(enforced.SharedDomains) == 1 && isForeign(enforced.SharedDomains[0]) && asksForNames(lifted) {
		return text("the CAs are those", enforced.SharedDomains[0]) + ": each CA may give names of the mesh, beside a name of its own"
	}
	others := slices.DeleteFunc(slices.Clone(enforced.TrustDomains), func(domain string) bool { return domain == own[0] })
	if len(others) == 0 || !asksForAnyName(lifted) {
		return ""
	}
	return text("the SPIFFE validator has the CAs", strings.Join(others, ", ")) + ", and a filter asks for any name of a certificate: each CA may give names of the others, beside a name of its own"
}

// ownDomains returns the trust domain of the mesh, and its other names. Where nothing states it, it is the one that the rules of the policies
// name, as Kuma's do: where they name several, nothing says which of them is the mesh's.
func ownDomains(reading *verdict.Reading) []string {
	own := []string{reading.Case.TrustDomains[0].Name()}
	if of, hasAliases := reading.Set().(capability.Aliased); hasAliases {
		own = append(own, of.TrustDomains()...)
	}
	if named := verdict.TrustDomains(reading.Inbounds()[0].Program.Program); own[0] == casefile.DefaultTrustDomain && len(named) == 1 {
		own = append(own, named...)
	}
	return own
}

// asksForNames reports whether a program tells callers apart by the names of their certificates.
func asksForNames(p policy.Program) bool {
	for c := range p.Conditions() {
		if is, ok := c.(policy.Is); ok && slices.Contains([]*policy.Attribute{attribute.Identity, attribute.URISAN, attribute.DNSSAN}, is.Attribute) {
			return true
		}
	}
	return false
}

// asksForAnyName reports whether a program looks at more of the names of a caller than their beginning, which is the first URI.
func asksForAnyName(p policy.Program) bool {
	for c := range p.Conditions() {
		is, ok := c.(policy.Is)
		switch {
		case !ok:
		case is.Attribute == attribute.URISAN || is.Attribute == attribute.DNSSAN:
			return true
		case is.Attribute == attribute.Identity && !slices.Contains([]policy.MatchKind{policy.Exact, policy.Prefix, policy.Segments, policy.Present}, is.Match.Kind):
			return true
		}
	}
	return false
}

// asksForPath reports whether a program looks at paths.
func asksForPath(p policy.Program) bool {
	for c := range p.Conditions() {
		if is, ok := c.(policy.Is); ok && (is.Attribute == attribute.Path || is.Attribute == attribute.Header(":path")) {
			return true
		}
	}
	return false
}

// asksForRequests reports whether a program looks at more than a connection shows.
func asksForRequests(p policy.Program) bool {
	for c := range p.Conditions() {
		if is, ok := c.(policy.Is); ok && is.Attribute.Layer == policy.L7 {
			return true
		}
	}
	return false
}

// equals compares what the filters and the policies come to on inbounds of one key.
func (g *group) equals(other *group) bool {
	in, otherIn := g.reading.Inbounds()[0], other.reading.Inbounds()[0]
	own, others := in.Program, otherIn.Program
	// A condition of the filters on the address holds on one inbound, and not on another.
	lifted, otherLifted := destination.Settle(g.lifted, in.IP), destination.Settle(other.lifted, otherIn.IP)
	return own.JudgesPlaintext == others.JudgesPlaintext && own.Tokens.Equal(others.Tokens) && in.OnItsPort().Equal(otherIn.OnItsPort()) && lifted.Equal(otherLifted) && slices.Equal(g.lost, other.lost)
}

// bytesOf returns the filters as text that equal filters share.
func bytesOf(f xds.Filters) string {
	var b strings.Builder
	add := func(m proto.Message) {
		// What was read from a dump can be written: the error is nil.
		raw, _ := proto.MarshalOptions{Deterministic: true}.Marshal(m)
		fmt.Fprintf(&b, "%d %s", len(raw), raw)
	}
	for _, m := range f.Network {
		add(m)
	}
	b.WriteByte('|')
	for _, m := range f.HTTP {
		add(m)
	}
	for _, route := range f.Routes {
		fmt.Fprintf(&b, "|%q", route.Name)
		add(route.Match)
		for _, m := range route.HTTP {
			add(m)
		}
	}
	return b.String()
}
