package lab

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/policy"
)

// identityOf returns the SPIFFE ID of a workload: that of the case, or that of the lab.
func (f *Files) identityOf(td spiffeid.TrustDomain, w policy.Workload) (spiffeid.ID, error) {
	if f.stated != nil {
		for _, peer := range f.stated.Options.Peers {
			if peer.Workload.Name == w.Name {
				return peer.Identity, nil
			}
		}
	}
	return identityOf(td, w)
}

// identityOf returns the SPIFFE ID of a workload in the lab.
func identityOf(td spiffeid.TrustDomain, w policy.Workload) (spiffeid.ID, error) {
	id, err := spiffeid.FromSegments(td, "ns", cmp.Or(w.Namespace, casefile.DefaultNamespace), "sa", w.Name)
	if err != nil {
		return id, fmt.Errorf("workload %q of namespace %q has no SPIFFE ID: %w", w.Name, w.Namespace, err)
	}
	return id, nil
}

// trustDomain is that of the mesh.
func (s Surroundings) trustDomain() spiffeid.TrustDomain {
	if s.Options.TrustDomain.IsZero() {
		return spiffeid.RequireTrustDomainFromString(casefile.DefaultTrustDomain)
	}
	return s.Options.TrustDomain
}

// NameAmong is the name of a workload, with its namespace where another of the workloads has that name too.
func NameAmong(all []policy.Inbound, w policy.Workload) string {
	if slices.ContainsFunc(all, func(other policy.Inbound) bool {
		return other.Workload.Name == w.Name && other.Workload.Namespace != w.Namespace
	}) {
		return w.Namespace + "/" + w.Name
	}
	return w.Name
}
