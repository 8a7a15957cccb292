package diff

import (
	"fmt"
	"maps"
	"net/netip"
	"testing"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/internal/policyset/choice"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
)

// drawnSpace has the values that workloads may have: those of the drawn policies, and others. The label "-" is absent, and an empty list
// has one usual value.
type drawnSpace struct {
	namespaces, apps, tiers, accounts, names, portNames, meshes, zones, addresses []string

	ports []uint16
	tags  []map[string]string
	// domain is the trust domain of the callers. Where byLabels is set, they have labels.
	domain   string
	byLabels bool
}

// drawnLabels is the space that the others are made of.
var drawnLabels = drawnSpace{
	namespaces: []string{"shop", "pay", "third"}, apps: []string{"-", "", "a", "b", "z"}, tiers: []string{"-", "x", "w", "z"},
	accounts: []string{"acc", "one", "two"}, ports: []uint16{8080, 8081, 9090}, domain: "trust-domain.mesh",
}

func istioSpace() drawnSpace {
	s := drawnLabels
	s.apps, s.domain = []string{"-", "a", "b", "z"}, "cluster.local"
	s.addresses = []string{"10.1.0.5", "10.1.7.5", "10.2.0.5", "172.16.0.9"}
	s.ports = []uint16{8080, 8081, 9090, 7070}
	return s
}

func ciliumSpace() drawnSpace {
	s := drawnLabels
	s.byLabels, s.portNames = true, []string{"", "web", "metrics"}
	s.ports = []uint16{8080, 8081, 8085, 8100, 8101, 9090, 80}
	return s
}

func linkerdSpace() drawnSpace {
	s := drawnLabels
	s.portNames, s.domain = []string{"", "web", "admin"}, "cluster.local"
	return s
}

func kumaSpace() drawnSpace {
	s := drawnLabels
	s.apps, s.names, s.portNames = []string{"-", "a", "b", "z"}, []string{"some", "web", "api"}, []string{"", "in", "admin", "8080"}
	s.meshes, s.zones = []string{"default", "default", "other"}, []string{"", "", "east", "west"}
	return s
}

// legacySpace has tags too. An inbound without tags is selected by its labels.
func legacySpace() drawnSpace {
	s := kumaSpace()
	s.domain = "default"
	s.tags = []map[string]string{nil, {}, {"version": "v1"}, {"kuma.io/service": "web"}, {"kuma.io/service": "web", "version": "v1"}, {"kuma.io/service": "api", "version": "v2"}}
	return s
}

// workloads draws inbounds, none twice.
func (s drawnSpace) workloads(c *choice.Chooser) (out []policy.Inbound) {
	pick := func(usual string, all []string) string {
		if len(all) == 0 {
			return usual
		}
		return choice.Pick(c, all...)
	}
	seen := map[string]bool{}
	for range mostDrawnWorkloads {
		in := policy.Inbound{Port: choice.Pick(c, s.ports...), Name: pick("", s.portNames), Protocol: choice.Pick(c, policy.HTTP, policy.TCP)}
		w := &in.Workload
		w.Name, w.Namespace, w.Mesh, w.ServiceAccount = pick("some", s.names), pick("shop", s.namespaces), pick("default", s.meshes), pick("acc", s.accounts)
		w.Labels = map[string]string{"app": pick("-", s.apps), "tier": pick("-", s.tiers)}
		maps.DeleteFunc(w.Labels, func(_, value string) bool { return value == "-" })
		if zone := pick("", s.zones); zone != "" {
			w.Zone, w.Origin = zone, "zone"
		}
		if len(s.addresses) > 0 {
			w.IP = netip.MustParseAddr(choice.Pick(c, s.addresses...))
		}
		if len(s.tags) > 0 {
			in.Tags = choice.Pick(c, s.tags...)
		}
		if key := fmt.Sprint(in, in.Protocol, in.Tags == nil); !seen[key] {
			seen[key] = true
			out = append(out, in)
		}
	}
	return out
}

// callers are workloads of each namespace and account, or of each namespace and some labels.
func (s drawnSpace) callers(t *testing.T) (out []language.Peer) {
	t.Helper()
	domain := spiffeid.RequireTrustDomainFromString(s.domain)
	add := func(namespace, account string, labels map[string]string) {
		id, err := spiffeid.FromSegments(domain, "ns", namespace, "sa", account)
		if s.domain == "default" { // a mesh of Kuma's legacy form names services
			id, err = spiffeid.FromSegments(domain, account)
		}
		if err != nil {
			t.Fatal(err)
		}
		w := policy.Workload{Name: fmt.Sprint("caller-", len(out)), Namespace: namespace, Mesh: "default", ServiceAccount: account, Labels: labels}
		out = append(out, language.Peer{Workload: w, Identity: id, IP: netip.AddrFrom4([4]byte{10, 66, 0, byte(len(out) + 1)})})
	}
	const third = "third"
	for _, namespace := range []string{"shop", "pay", "other"} {
		for _, app := range []string{"front", "legacy", third} {
			if !s.byLabels {
				add(namespace, app, nil)
				continue
			}
			for _, tier := range []string{"-", "x", "z"} {
				labels := map[string]string{"app": app, "tier": tier}
				maps.DeleteFunc(labels, func(_, value string) bool { return value == "-" || value == third })
				add(namespace, fmt.Sprint("account-", len(out)), labels)
			}
		}
	}
	return out
}
