package networkpolicy

import (
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/labelselector"
)

// breadth is what policies let in or shut out that the lab does not play, in parts of rules.
type breadth struct {
	allowed, denied []part
	// uniform is true where each rule is about every protocol: then the decision about TCP is that about all.
	// The parts about protocols count where it is false on one of two sides.
	uniform                           bool
	allowedProtocols, deniedProtocols []part
	// closed are the endpoints that let in nothing that no rule is about, and ruled those of any rule.
	closed, ruled []subject
	// always is true where an endpoint that no policy selects is closed too.
	always bool
}

// part is a part of a rule, with the endpoints that the rule is about.
type part struct {
	text      string
	endpoints subject
}

// Broader returns what the second policies let in and the first ones shut out, as far as the lab does not
// play it. Parts of rules are held against each other by their text, and endpoints by what selectors ask for.
func Broader(was, is []Policy, before, after Options) (out []string) {
	old, recent := breadthOf(was, before), breadthOf(is, after)
	if !old.uniform || !recent.uniform {
		old.allowed, recent.allowed = slices.Concat(old.allowed, old.allowedProtocols), slices.Concat(recent.allowed, recent.allowedProtocols)
		old.denied, recent.denied = slices.Concat(old.denied, old.deniedProtocols), slices.Concat(recent.denied, recent.deniedProtocols)
	}
	has := func(parts []part, text string) bool {
		return slices.ContainsFunc(parts, func(p part) bool { return p.text == text })
	}
	for _, p := range recent.allowed {
		if !has(old.allowed, p.text) && !old.isOpen(p.endpoints) {
			out = append(out, "a rule lets in "+p.text)
		}
	}
	for _, p := range old.denied {
		if !has(recent.denied, p.text) {
			out = append(out, "no rule shuts out "+p.text+" any more")
		}
	}
	for _, s := range old.closed {
		if !slices.ContainsFunc(recent.closed, func(wide subject) bool { return wide.covers(s) }) {
			out = append(out, "no rule shuts out everything that no rule is about any more, of "+s.String())
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Closed returns a text for the endpoints of each spec that let in nothing that no rule is about, in any protocol.
func Closed(ps []Policy, opts Options) (out []string) {
	b := breadthOf(ps, opts)
	if b.always {
		out = append(out, "every endpoint")
	}
	for _, s := range b.closed {
		out = append(out, s.String())
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// isOpen reports whether everything reached the endpoints: no rule was about any of them.
func (b breadth) isOpen(of subject) bool {
	return !b.always && !slices.ContainsFunc(b.ruled, func(s subject) bool { return !s.isApart(of) })
}

func breadthOf(ps []Policy, opts Options) breadth {
	out := breadth{uniform: true, always: opts.PolicyEnforcement == enforceAlways}
	for _, p := range ps {
		for _, s := range p.resource.all() {
			of := p.subjectOf(s)
			if len(s.Ingress)+len(s.IngressDeny) > 0 {
				out.ruled = append(out.ruled, of)
			}
			if s.closesIngress() {
				out.closed = append(out.closed, of)
			}
			for _, r := range s.Ingress {
				r.addBreadth(of, opts, &out.allowed, &out.allowedProtocols)
				out.uniform = out.uniform && r.isUniform()
				for _, text := range r.unplayedParts(of) {
					out.allowed = append(out.allowed, part{text, of})
				}
			}
			for _, r := range s.IngressDeny {
				r.addBreadth(of, opts, &out.denied, &out.deniedProtocols)
				out.uniform = out.uniform && r.isUniform()
			}
		}
	}
	return out
}

// all returns the specs of a policy.
func (r Resource) all() []*Spec {
	return slices.DeleteFunc(append([]*Spec{r.Spec}, r.Specs...), func(s *Spec) bool { return s == nil })
}

// closesIngress reports whether a spec shuts out what no rule lets in.
func (s *Spec) closesIngress() bool {
	return len(s.Ingress)+len(s.IngressDeny) > 0 && (s.EnableDefaultDeny.Ingress == nil || *s.EnableDefaultDeny.Ingress)
}

// isUniform reports whether a rule is about every protocol and port.
func (r Ingress) isUniform() bool { return len(r.ToPorts) == 0 && len(r.ICMPs) == 0 }

// isEmpty reports whether a rule says neither who calls nor on which port. It is about nobody.
func (r Ingress) isEmpty() bool { return r.isUniform() && !r.hasPeers() }

// addBreadth adds the parts of a rule.
func (r Ingress) addBreadth(of subject, opts Options, peers, protocols *[]part) {
	if r.isEmpty() {
		return
	}
	text := func(parts ...any) string {
		return jsonOf(append(parts, r.FromRequires, r.Authentication)...) + of.ofRule()
	}
	add := func(to *[]part, text string) { *to = append(*to, part{text, of}) }
	for _, peer := range r.peerItems() {
		if r.isUniform() {
			add(protocols, "every protocol: "+text(peer))
		}
		for _, port := range r.ports() {
			if port.Protocol == "" || port.Protocol == anyProtocol {
				add(protocols, "every protocol: "+text(peer, port.Port, port.EndPort))
			}
		}
	}
	for _, peer := range r.broadPeers(opts) {
		if len(r.ToPorts) == 0 {
			add(peers, peer+": "+text())
		}
		for _, entry := range r.entries() {
			add(peers, peer+": "+text(entry))
		}
	}
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
	others := slices.DeleteFunc(append(named, labelselector.OtherThan(append(named, own))), func(name string) bool { return name == own })
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
