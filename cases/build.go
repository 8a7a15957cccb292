package cases

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/dialect"
	"github.com/meshproof/meshproof/policy/kuma"
	"github.com/meshproof/meshproof/policy/manifest"
)

// DefaultTrustDomain is the mesh's trust domain where a case names none.
const DefaultTrustDomain = "trust-domain.mesh"

// builder turns one document into a case.
type builder struct {
	doc    manifest.Document
	schema caseSchema
	out    Case
	// workloads maps a workload's name to itself as a caller.
	workloads map[string]Caller
	callers   map[string]Caller
}

func build(doc manifest.Document) (Case, error) {
	b := &builder{doc: doc, workloads: map[string]Caller{}, callers: map[string]Caller{}}
	if err := doc.Decode(&b.schema); err != nil {
		return Case{}, err
	}
	for _, step := range []func() error{b.head, b.trustDomains, b.addWorkloads, b.addCallers, b.addRequests, b.addCounters, b.complete} {
		if err := step(); err != nil {
			return Case{}, err
		}
	}
	return b.out, nil
}

func (b *builder) head() error {
	s := b.schema
	if s.Case == "" {
		return b.doc.Errorf("case", "the case has no name")
	}
	b.out = Case{
		Name:           s.Case,
		Story:          s.Story,
		Place:          b.doc.Place(""),
		Policies:       s.Policies,
		ExpectError:    s.ExpectError,
		ExpectWarnings: s.ExpectWarning,
		Normalization:  s.Options.PathNormalization.normalization(),
		Options: dialect.Options{Kuma: kuma.Options{
			ShadowForm:      s.Options.ShadowForm,
			SystemNamespace: s.Options.SystemNamespace,
		}},
	}
	return nil
}

func (b *builder) trustDomains() error {
	names := b.schema.TrustDomains
	if len(names) == 0 {
		names = []string{DefaultTrustDomain}
	}
	for i, name := range names {
		td, err := spiffeid.TrustDomainFromString(name)
		switch {
		case err != nil:
			return b.doc.Errorf(fmt.Sprintf("trustDomains[%d]", i), "%q is not a trust domain: %v", name, err)
		case slices.Contains(b.out.TrustDomains, td):
			return b.doc.Errorf(fmt.Sprintf("trustDomains[%d]", i), "trust domain %q stands twice", name)
		}
		b.out.TrustDomains = append(b.out.TrustDomains, td)
	}
	return nil
}

func (b *builder) addWorkloads() error {
	for i, w := range b.schema.Workloads {
		field := fmt.Sprintf("workloads[%d]", i)
		if w.Name == "" {
			return b.doc.Errorf(field, "the workload has no name")
		}
		if _, ok := b.workloads[w.Name]; ok {
			return b.doc.Errorf(field+".name", "workload %q stands twice", w.Name)
		}
		id, err := b.identity(w)
		if err != nil {
			return b.doc.Errorf(field, "%v", err)
		}
		ip := netip.AddrFrom4([4]byte{10, 64, byte(i >> 8), byte(i + 1)})
		if w.IP != "" {
			if ip, err = netip.ParseAddr(w.IP); err != nil || !ip.Is4() {
				return b.doc.Errorf(field+".ip", "%q is not an IPv4 address", w.IP)
			}
		}
		caller := sound(w.Name, id)
		caller.SourceIP = ip
		b.workloads[w.Name] = caller
		if err := b.addInbounds(field, w, id, ip); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) identity(w workloadSchema) (spiffeid.ID, error) {
	if w.Identity != "" {
		return spiffeid.FromString(w.Identity)
	}
	namespace, account := w.Namespace, w.ServiceAccount
	if namespace == "" {
		namespace = "default"
	}
	if account == "" {
		account = w.Name
	}
	return spiffeid.FromSegments(b.out.TrustDomains[0], "ns", namespace, "sa", account)
}

func (b *builder) addInbounds(field string, w workloadSchema, id spiffeid.ID, ip netip.Addr) error {
	mesh, namespace := w.Mesh, w.Namespace
	if mesh == "" {
		mesh = "default"
	}
	if namespace == "" {
		namespace = "default"
	}
	for i, in := range w.Inbounds {
		field := fmt.Sprintf("%s.inbounds[%d]", field, i)
		inbound := Inbound{
			Inbound: policy.Inbound{
				Workload: policy.Workload{
					Name: w.Name, Namespace: namespace, Mesh: mesh, Zone: w.Zone, Origin: w.Origin, Labels: w.Labels,
				},
				Name: in.Name, Port: in.Port, Protocol: in.Protocol,
			},
			Identity: id,
			IP:       ip,
		}
		if in.Port == 0 {
			return b.doc.Errorf(field+".port", "the inbound has no port")
		}
		switch in.MTLS {
		case "", "strict":
		case "permissive":
			inbound.Permissive = true
		default:
			return b.doc.Errorf(field+".mtls", "%q is unknown: use strict or permissive", in.MTLS)
		}
		for _, other := range b.out.Inbounds {
			switch {
			case other.String() == inbound.String():
				return b.doc.Errorf(field, "inbound %s stands twice", inbound)
			case other.Address() == inbound.Address():
				return b.doc.Errorf(field, "inbounds %s and %s share the address %s", other, inbound, inbound.Address())
			}
		}
		b.out.Inbounds = append(b.out.Inbounds, inbound)
	}
	return nil
}

func (b *builder) addCallers() error {
	for _, name := range sortedKeys(b.schema.Callers) {
		field := "callers." + name
		if _, ok := b.workloads[name]; ok {
			return b.doc.Errorf(field, "%q is a workload already", name)
		}
		if name == "plaintext" || name == "anonymous" || strings.HasPrefix(name, "spiffe://") {
			return b.doc.Errorf(field, "the name %q has a meaning of its own", name)
		}
		c, err := b.schema.Callers[name].caller(name, b.out.TrustDomains[0])
		if err != nil {
			return b.doc.Errorf(field, "%v", err)
		}
		b.callers[name] = c
	}
	return nil
}

// complete refuses a case that can prove nothing.
func (b *builder) complete() error {
	switch {
	case b.out.ExpectError != "" && len(b.out.Requests) > 0:
		return b.doc.Errorf("requests", "the policies are expected to be refused, so that no request can be sent")
	case b.out.ExpectError == "" && len(b.out.Requests) == 0 && b.out.ExpectWarnings == nil:
		return b.doc.Errorf("", "the case has no request, no expectError and no expectWarning: it proves nothing")
	}
	return nil
}
