package networkpolicy

import (
	"fmt"
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
	// closed are the endpoints that let in nothing that no rule is about, denying those that a rule shuts somebody out of, and ruled those
	// of any rule.
	closed, denying, ruled []subject
	// always is true where an endpoint that no policy selects is closed too.
	always bool
	// ranked are the endpoints of each rule that asks for HTTP or for authentication: of their rules, that of the fewest ports decides.
	ranked []subject
	// letIn and shutOut are what each rule is about, whether the lab plays it or not.
	letIn, shutOut []grant
	// demanding are the peers of rules that ask for authentication, and of those that ask for HTTP where the lab cannot play them.
	demanding []part
}

// part is a part of a rule, with the endpoints that the rule is about. Two parts are alike where what they let in and their texts are.
type part struct {
	// lets is what the rule lets in, in words, and text how it does so.
	lets, text string
	place      string
	grant
}

// isIn reports whether one of some parts is alike, or one of some grants has all of it. Where one of its endpoints is ranked, the grant
// has to be about the same.
func (p part) isIn(some []part, grants []grant, ranked []subject) bool {
	isRanked := slices.ContainsFunc(ranked, func(s subject) bool { return !s.isApart(p.endpoints) })
	return slices.ContainsFunc(some, func(other part) bool { return other.lets == p.lets && other.text == p.text }) ||
		slices.ContainsFunc(grants, func(g grant) bool { return g.isLike(p.grant) || !isRanked && g.covers(p.grant) })
}

// sentences says of the parts of each rule, in one sentence, what the rule is about.
func sentences(parts []part, begin, end string) (out []string) {
	words := map[string][]string{}
	var order []string
	for _, p := range parts {
		rest := end + " for " + p.endpoints.String() + " (" + p.place + ")"
		if words[rest] == nil {
			order = append(order, rest)
		}
		if !slices.Contains(words[rest], p.lets) {
			words[rest] = append(words[rest], p.lets)
		}
	}
	for _, rest := range order {
		out = append(out, begin+strings.Join(words[rest], ", ")+rest)
	}
	return out
}

// Broader returns what the second policies let in and the first ones shut out, as far as the lab does not
// play it. Parts of rules are held against each other by their text, and endpoints by what selectors ask for.
func Broader(was, is []Policy, before, after Options) (out []string) {
	old, recent := breadthOf(was, before), breadthOf(is, after)
	if !old.uniform || !recent.uniform {
		old.allowed, recent.allowed = slices.Concat(old.allowed, old.allowedProtocols), slices.Concat(recent.allowed, recent.allowedProtocols)
		old.denied, recent.denied = slices.Concat(old.denied, old.deniedProtocols), slices.Concat(recent.denied, recent.deniedProtocols)
	}
	ranked := slices.Concat(old.ranked, recent.ranked)
	added := slices.DeleteFunc(recent.allowed, func(p part) bool { return p.isIn(old.allowed, old.letIn, ranked) || old.isOpen(p.endpoints) })
	lost := slices.DeleteFunc(old.denied, func(p part) bool { return p.isIn(recent.denied, recent.shutOut, ranked) })
	out = slices.Concat(sentences(added, "a rule lets in ", ""), sentences(lost, "no rule shuts out ", " any more"),
		sentences(old.lapsed(recent), "no rule asks ", " for HTTP or for authentication any more"))
	for _, s := range old.closed {
		if !slices.ContainsFunc(recent.closed, func(wide subject) bool { return wide.covers(s) }) {
			out = append(out, s.String()+" is not closed any more: what no rule is about gets in, in every protocol")
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Closed returns a text for the endpoints of each spec that let in nothing that no rule is about, in any protocol, or that a rule shuts somebody
// out of.
func Closed(ps []Policy, opts Options) (out []string) {
	b := breadthOf(ps, opts)
	if b.always {
		out = append(out, "every endpoint")
	}
	for _, s := range slices.Concat(b.closed, b.denying) {
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
		for i, s := range p.resource.all() {
			of, field := p.subjectOf(s), p.resource.fieldOf(i)
			if len(s.Ingress)+len(s.IngressDeny) > 0 {
				out.ruled = append(out.ruled, of)
			}
			if s.closesIngress() {
				out.closed = append(out.closed, of)
			}
			if len(s.IngressDeny) > 0 {
				out.denying = append(out.denying, of)
			}
			for k, r := range s.Ingress {
				place := p.doc.Place(item(field+".ingress", k))
				before := len(out.allowed)
				r.addBreadth(of, place, opts, &out.allowed, &out.allowedProtocols)
				out.uniform = out.uniform && r.isUniform()
				if r.isRanked() {
					out.ranked = append(out.ranked, of)
				}
				out.letIn = append(out.letIn, r.grants(of)...)
				out.allowed = append(out.allowed, r.unplayedParts(of, place)...)
				out.addDemands(r, of, place, out.allowed[before:])
			}
			for k, r := range s.IngressDeny {
				place := p.doc.Place(item(field+".ingressDeny", k))
				r.addBreadth(of, place, opts, &out.denied, &out.deniedProtocols)
				out.denied = append(out.denied, r.unplayedParts(of, place)...)
				out.shutOut = append(out.shutOut, r.grants(of)...)
				out.uniform = out.uniform && r.isUniform()
			}
		}
	}
	if opts.PolicyEnforcement == enforceNever || opts.PolicyAuditMode {
		// The agent drops nothing then.
		out.closed, out.denying, out.denied, out.deniedProtocols, out.shutOut, out.always = nil, nil, nil, nil, nil, false
	}
	return out
}

// all returns the specs of a policy.
func (r Resource) all() []*Spec {
	return slices.DeleteFunc(append([]*Spec{r.Spec}, r.Specs...), func(s *Spec) bool { return s == nil })
}

// fieldOf returns the path of the n-th spec of a policy.
func (r Resource) fieldOf(n int) string {
	if r.Spec != nil && n == 0 {
		return "spec"
	}
	if r.Spec != nil {
		n--
	}
	return item("specs", n)
}

// closesIngress reports whether a spec shuts out what no rule lets in.
func (s *Spec) closesIngress() bool {
	return len(s.Ingress)+len(s.IngressDeny) > 0 && (s.EnableDefaultDeny.Ingress == nil || *s.EnableDefaultDeny.Ingress)
}

// isUniform reports whether a rule is about every protocol and port.
func (r Ingress) isUniform() bool { return len(r.ToPorts) == 0 && len(r.ICMPs) == 0 }

// isEmpty reports whether a rule is about nobody: it says neither who calls nor on which port, or has an empty list of peers.
func (r Ingress) isEmpty() bool { return r.isUniform() && !r.hasPeers() || r.lists().hasEmpty() }

// addBreadth adds the parts of a rule.
func (r Ingress) addBreadth(of subject, place string, opts Options, peers, protocols *[]part) {
	if r.isEmpty() {
		return
	}
	add := func(to *[]part, lets string, peer peerItem, on any, how ...any) {
		*to = append(*to, part{lets, written(append(how, on, r.FromRequires, r.Authentication)...) + of.ofRule(), place, r.grantOf(of, peer, on)})
	}
	const everyProtocol = "every protocol"
	for _, peer := range r.peerItems() {
		if r.isUniform() {
			add(protocols, everyProtocol, peer, nil, peer.field, peer.item)
		}
		for _, port := range r.ports() {
			if port.isOfAll() {
				add(protocols, everyProtocol, peer, PortRule{Ports: []PortProtocol{{Port: port.Port, EndPort: port.EndPort}}}, peer.field, peer.item)
			}
		}
	}
	for _, peer := range r.broadPeers(opts) {
		if r.isUniform() {
			add(peers, peer.broad(), peer, nil)
		}
		for _, entry := range r.entries() {
			add(peers, peer.broad(), peer, entry)
		}
	}
}

// broadPeers returns whom a rule is about beside the world and the pods of the own cluster, as far as it
// does not name them: the nodes and the pods of other clusters.
func (r Ingress) broadPeers(opts Options) (out []peerItem) {
	add := func(entity string) { out = append(out, peerItem{"fromEntities", entity}) }
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
				out = append(out, peerItem{"fromEndpoints", s})
			}
		}
	}
	return out
}

// broad says in words who a broad peer is.
func (p peerItem) broad() string {
	if s, ok := p.item.(Selector); ok {
		return "the pods of other clusters that have " + labelsOf(s)
	}
	return fmt.Sprintf("the entity %s", p.item)
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
