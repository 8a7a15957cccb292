package lab

import (
	"slices"
	"strings"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
)

// accountOf returns the namespace and the name of the account that an identity stands for, and whether it stands for one.
func accountOf(id spiffeid.ID) (namespace, name string, isAccount bool) {
	parts := strings.Split(strings.TrimPrefix(id.Path(), "/"), "/")
	if len(parts) != 4 || parts[0] != "ns" || parts[2] != "sa" {
		return "", "", false
	}
	return parts[1], parts[3], true
}

// DropShared returns the callers without those that share their account with another one: the identity that such a
// caller has here is none that a mesh gives.
func (c Callers) DropShared() Callers {
	c.Peers = slices.DeleteFunc(slices.Clone(c.Peers), func(p language.Peer) bool {
		_, _, isAccount := accountOf(p.Identity)
		return !isAccount
	})
	return c
}

// AssignIdentities returns lists of the callers, so that each caller has its own identity in some list, and each of the others
// that its workload can have: a selector that asks for another namespace or another account keeps it from the others. No two
// callers of a list have one identity, and a list may lack callers.
func (c Callers) AssignIdentities(ids []spiffeid.ID) (lists [][]language.Peer) {
	for _, peer := range c.Peers {
		key := selectionKey(c.targets, policy.Inbound{Workload: peer.Workload})
		own, err := spiffeid.FromSegments(peer.Identity.TrustDomain(), "ns", peer.Workload.Namespace, "sa", peer.Workload.ServiceAccount)
		possible := ids
		if err == nil && !slices.Contains(ids, own) {
			possible = append([]spiffeid.ID{own}, ids...)
		}
		for _, id := range possible {
			is := peer
			var isAccount bool
			is.Identity = id
			is.Workload.Namespace, is.Workload.ServiceAccount, isAccount = accountOf(id)
			if !isAccount || selectionKey(c.targets, policy.Inbound{Workload: is.Workload}) != key {
				continue
			}
			i := slices.IndexFunc(lists, func(list []language.Peer) bool {
				return !slices.ContainsFunc(list, func(other language.Peer) bool {
					return other.Identity == id || other.Workload.Name == is.Workload.Name
				})
			})
			if i < 0 {
				i, lists = len(lists), append(lists, nil)
			}
			lists[i] = append(lists[i], is)
		}
	}
	return lists
}

// selectionKey is the same for workloads that the same targets select.
func selectionKey(targets []capability.Target, in policy.Inbound) string {
	key := make([]byte, len(targets))
	for i, t := range targets {
		if t.Selects(in) {
			key[i] = 1
		}
	}
	return string(key)
}
