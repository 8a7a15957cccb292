package proof

import (
	"net/netip"
	"slices"

	"github.com/meshproof/meshproof/internal/endpoint"
	"github.com/meshproof/meshproof/internal/forwarded"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/classes"
)

// forgeAddresses adds requests of callers that write another address than their own into
// x-forwarded-for. Where the listener trusts the header, it adds the witnesses without it.
func (p *Proof) forgeAddresses(i int, add func(policy.Request, int)) {
	in := p.Inbounds[i]
	if in.Protocol.Layer() == policy.L4 || !reads(in.Cover, attribute.SourceAddress) && !reads(in.Cover, attribute.RemoteAddress) {
		return
	}
	var others []netip.Addr
	for _, c := range in.Cover.Classes[:min(len(in.Cover.Classes), mostForgers)] {
		if source := c.Witness.Source; source.IsValid() && !slices.Contains(others, source) {
			others = append(others, source)
		}
	}
	forge := func(r policy.Request) {
		class, ok := in.Cover.Locate(r)
		if !ok {
			class = classes.Unclassed
		}
		add(r, class)
	}
	for _, c := range in.Cover.Classes[:min(len(in.Cover.Classes), mostForgers)] {
		r := c.Witness
		r.Remote = netip.Addr{}
		r.Headers = slices.DeleteFunc(slices.Clone(r.Headers), func(h policy.Header) bool { return h.Name == forwarded.Header })
		if in.TrustedHops > 0 {
			if !r.Source.IsValid() {
				r.Source = endpoint.Unnamed
			}
			forge(r)
			continue
		}
		for _, other := range others {
			if other != r.Source {
				r.Headers = append(slices.Clip(c.Witness.Headers), policy.Header{Name: forwarded.Header, Value: other.String()})
				forge(r)
			}
		}
	}
}
