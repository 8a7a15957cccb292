package cases

import (
	"cmp"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/language"
)

func (b *builder) addWorkloads() error {
	for i, item := range b.schema.Workloads.list {
		if item.dataplane != nil {
			if err := b.addDataplane(i, *item.dataplane); err != nil {
				return err
			}
			continue
		}
		w, field := item.workloadSchema, fmt.Sprintf("workloads[%d]", i)
		switch _, taken := b.workloads[w.Name]; {
		case w.Name == "":
			return b.doc.Errorf(field+".name", "the workload has no name")
		case casefile.Reserved(w.Name):
			return b.doc.Errorf(field+".name", "the name %q has a meaning of its own", w.Name)
		case taken:
			return b.doc.Errorf(field+".name", "workload %q appears twice", w.Name)
		}
		id, err := b.identity(field, w)
		if err != nil {
			return err
		}
		ip := casefile.DefaultIP(i)
		if w.IP != "" {
			if ip, err = b.address(field+".ip", w.IP); err != nil {
				return err
			}
		}
		caller := soundCaller(w.Name, id)
		caller.SourceIP = ip
		b.workloads[w.Name] = caller
		b.built.Options.Peers = append(b.built.Options.Peers, language.Peer{Workload: w.workload(), Identity: id, IP: ip})
		for k, in := range w.Inbounds {
			if err := b.addInbound(fmt.Sprintf("%s.inbounds[%d]", field, k), w, in, id, ip); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w workloadSchema) workload() policy.Workload {
	return policy.Workload{
		Name: w.Name, Namespace: cmp.Or(w.Namespace, casefile.DefaultNamespace), Mesh: cmp.Or(w.Mesh, casefile.DefaultMesh),
		Zone: w.Zone, Origin: w.Origin, Labels: w.Labels, ServiceAccount: cmp.Or(w.ServiceAccount, w.Name),
	}
}

func (b *builder) identity(field string, w workloadSchema) (spiffeid.ID, error) {
	if w.Identity != "" {
		id, err := spiffeid.FromString(w.Identity)
		switch {
		case err != nil:
			return spiffeid.ID{}, b.doc.Errorf(field+".identity", "%q is not a SPIFFE ID: %v", w.Identity, err)
		case len(w.Inbounds) > 0 && !slices.Contains(b.built.TrustDomains, id.TrustDomain()):
			return spiffeid.ID{}, b.doc.Errorf(field+".identity", "callers would not trust the inbounds of %s: add %s to trustDomains", id, id.TrustDomain().Name())
		}
		return id, nil
	}
	id, err := b.defaultIdentity(w.Namespace, cmp.Or(w.ServiceAccount, w.Name))
	if err != nil {
		return spiffeid.ID{}, b.doc.Errorf(field, "%v", err)
	}
	return id, nil
}

func (b *builder) defaultIdentity(namespace, account string) (spiffeid.ID, error) {
	id, err := casefile.DefaultIdentity(b.built.TrustDomains[0], cmp.Or(namespace, casefile.DefaultNamespace), account)
	if err != nil {
		return spiffeid.ID{}, fmt.Errorf("namespace and service account make no SPIFFE ID: %w", err)
	}
	return id, nil
}

func (b *builder) addInbound(field string, w workloadSchema, in inboundSchema, id spiffeid.ID, ip netip.Addr) error {
	inbound := Inbound{
		Inbound: policy.Inbound{
			Workload: w.workload(),
			Name:     in.Name, Port: in.Port, Protocol: in.Protocol, Tags: in.Tags,
			TrustedHops: in.XFFTrustedHops,
		},
		Identity: id,
		IP:       ip,
		MTLS:     in.MTLS,
		Reach:    in.Answer.Reach,
	}
	var err error
	if inbound.Routes, err = b.routes(field, in); err != nil {
		return err
	}
	if in.Port == 0 {
		return b.doc.Errorf(field+".port", "the inbound has no port")
	}
	if hops := in.XFFTrustedHops; hops < 0 || hops > maxHops || hops > 0 && in.Protocol == policy.TCP {
		return b.doc.Errorf(field+".xffTrustedHops", "%d is no number of proxies in front of the inbound: use 0 to %d, and 0 on tcp, which has no header", hops, maxHops)
	}
	for _, other := range b.built.Inbounds {
		switch {
		case other.String() == inbound.String():
			return b.doc.Errorf(field, "inbound %s appears twice", inbound)
		case other.Address() == inbound.Address():
			return b.doc.Errorf(field, "inbounds %s and %s share the address %s", other, inbound, inbound.Address())
		}
	}
	b.built.Inbounds = append(b.built.Inbounds, inbound)
	return nil
}

// maxHops bounds the proxies in front of an inbound.
const maxHops = 16

var broadcast = netip.AddrFrom4([4]byte{255, 255, 255, 255})

// address reads an address for the PROXY header of the virtual mesh.
func (b *builder) address(field, text string) (netip.Addr, error) {
	ip, err := netip.ParseAddr(text)
	if err != nil || !ip.Is4() {
		return netip.Addr{}, b.doc.Errorf(field, "%q is not an IPv4 address", text)
	}
	if ip.IsUnspecified() || ip.IsMulticast() || ip == broadcast {
		return netip.Addr{}, b.doc.Errorf(field, "%s is no address of one workload: use one like 10.0.0.1", ip)
	}
	return ip, nil
}

// routes reads the routes of an inbound, in the order of Envoy's questions.
func (b *builder) routes(field string, in inboundSchema) ([]policy.InboundRoute, error) {
	if in.Protocol == policy.TCP && in.Routes != nil {
		return nil, b.doc.Errorf(field+".routes", "a tcp inbound has no routes")
	}
	var out []policy.InboundRoute
	for i, s := range in.Routes {
		entry := fmt.Sprintf("%s.routes[%d]", field, i)
		if s.Name == "" {
			return nil, b.doc.Errorf(entry+".name", "the route has no name")
		}
		if slices.ContainsFunc(out, func(r policy.InboundRoute) bool { return r.Name == s.Name }) {
			return nil, b.doc.Errorf(entry+".name", "route %q appears twice", s.Name)
		}
		when, err := b.routeCondition(entry, s)
		if err != nil {
			return nil, err
		}
		out = append(out, policy.InboundRoute{Name: s.Name, When: when})
	}
	return out, nil
}

var methodToken = regexp.MustCompile(`^[A-Z0-9_-]+$`)

func (b *builder) routeCondition(field string, s routeSchema) (policy.Condition, error) {
	var all policy.And
	if s.Path != nil {
		path := attribute.Path.Exact(s.Path.Value)
		switch s.Path.Type {
		case "Exact":
		case "Prefix":
			path = attribute.Path.Segments(s.Path.Value)
		default:
			return nil, b.doc.Errorf(field+".path.type", "%q is unknown: use Exact or Prefix", s.Path.Type)
		}
		if !strings.HasPrefix(s.Path.Value, "/") || strings.ContainsAny(s.Path.Value, "?# \r\n") {
			return nil, b.doc.Errorf(field+".path.value", "%q is not a path without query", s.Path.Value)
		}
		all = append(all, path)
	}
	if s.Method != "" {
		if !methodToken.MatchString(s.Method) {
			return nil, b.doc.Errorf(field+".method", "%q is not a method: use capitals, as in GET", s.Method)
		}
		all = append(all, attribute.Method.Exact(s.Method))
	}
	switch len(all) {
	case 0:
		return nil, b.doc.Errorf(field, "the route takes everything: set path or method")
	case 1:
		return all[0], nil
	default:
		return all, nil
	}
}
