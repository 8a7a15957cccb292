package networkpolicy

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/labelselector"
)

// BreadthOf returns the breadth of policies.
func BreadthOf(ps []Policy, opts Options) capability.Breadth {
	out := capability.Breadth{Uniform: true}
	for _, p := range ps {
		for _, s := range append([]*Spec{p.resource.Spec}, p.resource.Specs...) {
			if s == nil {
				continue
			}
			subject := []any{p.resource.Metadata.Namespace, s.EndpointSelector}
			if s.closesIngress() {
				out.Denied = append(out.Denied, "everything that no rule is about: "+jsonOf(subject))
			}
			for _, r := range s.Ingress {
				r.addBreadth(subject, opts, &out.Allowed, &out.AllowedProtocols)
				out.Uniform = out.Uniform && r.isUniform()
			}
			for _, r := range s.IngressDeny {
				r.addBreadth(subject, opts, &out.Denied, &out.DeniedProtocols)
				out.Uniform = out.Uniform && r.isUniform()
			}
		}
	}
	for _, texts := range []*[]string{&out.Allowed, &out.Denied, &out.AllowedProtocols, &out.DeniedProtocols} {
		slices.Sort(*texts)
		*texts = slices.Compact(*texts)
	}
	return out
}

// jsonOf writes parts as JSON: lists, maps and texts always have that form.
func jsonOf(parts ...any) string {
	out, _ := json.Marshal(parts)
	return string(out)
}

// closesIngress reports whether a spec shuts out what no rule lets in.
func (s *Spec) closesIngress() bool {
	return len(s.Ingress)+len(s.IngressDeny) > 0 && (s.EnableDefaultDeny.Ingress == nil || *s.EnableDefaultDeny.Ingress)
}

// isUniform reports whether a rule is about every protocol and port.
func (r Ingress) isUniform() bool { return len(r.ToPorts) == 0 && len(r.ICMPs) == 0 }

// addBreadth adds the texts of a rule.
func (r Ingress) addBreadth(subject any, opts Options, peers, protocols *[]string) {
	text := func(parts ...any) string {
		return jsonOf(append(parts, subject, r.FromRequires, r.Authentication)...)
	}
	for _, peer := range r.peerItems() {
		if r.isUniform() {
			*protocols = append(*protocols, "every protocol: "+text(peer))
		}
		for _, port := range r.ports() {
			if port.Protocol == "" || port.Protocol == anyProtocol {
				*protocols = append(*protocols, "every protocol: "+text(peer, port.Port, port.EndPort))
			}
		}
	}
	for _, peer := range r.broadPeers(opts) {
		if len(r.ToPorts) == 0 {
			*peers = append(*peers, peer+": "+text())
		}
		for _, entry := range r.ToPorts {
			if len(entry.Ports) == 0 {
				*peers = append(*peers, peer+": "+text(entry))
			}
			for _, port := range entry.Ports {
				entry.Ports = []PortProtocol{port}
				*peers = append(*peers, peer+": "+text(entry))
			}
		}
	}
}

// hasPeers reports whether a rule says who calls. One that does not is about everybody.
func (r Ingress) hasPeers() bool {
	return r.FromEndpoints != nil || r.FromCIDR != nil || r.FromCIDRSet != nil || r.FromEntities != nil || r.FromNodes != nil || r.FromGroups != nil
}

// peerItems returns each peer of a rule, with the field that has it.
func (r Ingress) peerItems() (out []any) {
	if !r.hasPeers() {
		return []any{"everybody"}
	}
	add := func(field string, item any) { out = append(out, []any{field, item}) }
	if r.FromEndpoints != nil {
		for _, s := range *r.FromEndpoints {
			add("fromEndpoints", s)
		}
	}
	if r.FromCIDR != nil {
		for _, c := range *r.FromCIDR {
			add("fromCIDR", c)
		}
	}
	if r.FromCIDRSet != nil {
		for _, c := range *r.FromCIDRSet {
			add("fromCIDRSet", c)
		}
	}
	if r.FromEntities != nil {
		for _, e := range *r.FromEntities {
			add("fromEntities", e)
		}
	}
	if r.FromNodes != nil {
		add("fromNodes", r.FromNodes)
	}
	if r.FromGroups != nil {
		add("fromGroups", r.FromGroups)
	}
	return out
}

// broadPeers returns whom a rule is about beside the world and the pods of the own cluster, as far as it
// does not name them: the nodes and the pods of other clusters.
func (r Ingress) broadPeers(opts Options) (out []string) {
	add := func(entity string) { out = append(out, "the entity "+entity) }
	addNodes := func() {
		for _, e := range entities {
			if !slices.Contains(played, e) {
				add(e)
			}
		}
	}
	if !r.hasPeers() {
		add(entityClusterMesh)
		addNodes()
		return out
	}
	if r.FromEntities != nil {
		for _, e := range *r.FromEntities {
			// The entity all has more than the cluster and the world: the pods of other clusters.
			if e == entityAll || e == entityClusterMesh {
				add(entityClusterMesh)
			}
			if e == entityAll || e == entityCluster {
				addNodes()
			}
		}
	}
	if r.FromEndpoints != nil {
		for _, s := range *r.FromEndpoints {
			if selectsOtherCluster(s, opts.ClusterName) {
				out = append(out, "the pods of other clusters that have "+labelsOf(s))
			}
		}
	}
	return out
}

// selectsOtherCluster reports whether a selector of peers takes pods of a cluster that is not the own one.
// One that does not ask for a cluster takes those of the own cluster.
func selectsOtherCluster(s Selector, own string) bool {
	var asked []labelselector.Expression
	var named []string
	for _, e := range s.Requirements() {
		if _, key := sourceOf(e.Key); key == clusterLabel {
			asked, named = append(asked, e), append(named, e.Values...)
		}
	}
	others := slices.DeleteFunc(append(named, otherThan(append(named, own))), func(name string) bool { return name == own })
	return len(asked) > 0 && !asksForReserved(s) && slices.ContainsFunc(others, func(name string) bool {
		return !slices.ContainsFunc(asked, func(e labelselector.Expression) bool { return !e.Meets(name, true) })
	})
}

// labelsOf says what a selector asks for, alike for two that ask for the same in another way of writing. A
// label of a pod has no source but k8s.
func labelsOf(s Selector) string {
	var all []string
	for _, e := range s.Requirements() {
		_, key := sourceOf(e.Key)
		all = append(all, requirement{key: key, operator: e.Operator, values: slices.Sorted(slices.Values(e.Values))}.wants())
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}
