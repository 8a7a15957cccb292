package networkpolicy

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/metadata"
	"github.com/meshproof/meshproof/internal/policylist"
	"github.com/meshproof/meshproof/internal/rendering"
	"github.com/meshproof/meshproof/policy/manifest"
)

const (
	apiVersion       = "cilium.io/v2"
	group            = "cilium.io"
	kind             = "CiliumNetworkPolicy"
	clusterwideKind  = "CiliumClusterwideNetworkPolicy"
	defaultNamespace = "default"
)

// Kinds are the two kinds.
var Kinds = []manifest.Head{{APIVersion: group, Kind: kind}, {APIVersion: group, Kind: clusterwideKind}}

// Owns reports whether the document is a policy of Cilium, in any version.
func Owns(doc manifest.Document) bool {
	head := doc.Type()
	of, _, _ := strings.Cut(head.APIVersion, "/")
	return head.Type == "" && of == group && (head.Kind == kind || head.Kind == clusterwideKind)
}

// ParseAll parses each document, and refuses a policy that is there twice. Where there is an
// error it returns no policies, and all errors joined, one line each.
func ParseAll(docs []manifest.Document) ([]Policy, error) { return policylist.Parse(docs, Parse) }

// Parse reads one policy. Its errors are [*manifest.Error], all of them joined. It refuses a
// field that is unknown or has a wrong type, what Cilium's validation refuses, and what this
// package cannot judge.
func Parse(doc manifest.Document) (Policy, error) {
	var resource Resource
	if err := doc.Decode(&resource); err != nil {
		return Policy{}, withHint(err)
	}
	r := &reader{doc: doc, kind: resource.Kind}
	var whole any
	if err := doc.Decode(&whole); err != nil {
		return Policy{}, err
	}
	r.refuseGaps("", whole)
	r.checkHead(resource)
	if resource.Kind == kind {
		resource.Metadata.Namespace = cmp.Or(resource.Metadata.Namespace, defaultNamespace)
	}
	r.namespace = resource.Metadata.Namespace
	p := Policy{doc: doc, resource: resource}
	r.name = p.String()
	if resource.Spec == nil && len(resource.Specs) == 0 {
		r.refuse("spec", "the policy has neither spec nor specs")
	}
	if resource.Spec != nil {
		p.specs = r.readSpec(p.specs, "spec", "", *resource.Spec)
	}
	for i, s := range resource.Specs {
		at := item("specs", i)
		if s == nil {
			continue
		}
		p.specs = r.readSpec(p.specs, at, at+"-", *s)
	}
	p.ofNodes = r.ofNodes
	if len(r.errs) > 0 {
		return Policy{}, errors.Join(r.errs...)
	}
	return p, nil
}

// reader collects the errors of one policy.
type reader struct {
	doc                   manifest.Document
	kind, namespace, name string
	errs                  []error
	// ofNodes is set by a spec of ingress that selects nodes.
	ofNodes bool
	// ofInit is true in a spec whose subject asks for the label of pods that start.
	ofInit bool
}

// direction is what a list of rules is about.
type direction struct {
	egress, deny bool
	// node is true for a policy of nodes.
	node bool
}

// withHint suggests endpointSelector for podSelector, which a NetworkPolicy of Kubernetes has: nodeSelector is closer, and about nodes.
func withHint(err error) error {
	return manifest.WithMeant(err, "endpointSelector", func(field string) bool { return field == "spec.podSelector" })
}

// refuse adds an error about a field. It says what to do where the field has a placeholder of a template tool, such as Flux.
func (r *reader) refuse(field, format string, args ...any) {
	var text string
	if at, found := r.doc.Lookup(field); found && at.Decode(&text) == nil {
		if replaced := rendering.PlaceholderIn(text); replaced != "" {
			format, args = format+": a template tool may replace %q, and %s", append(args, replaced, rendering.Remedy)
		}
	}
	r.errs = append(r.errs, r.doc.Errorf(field, format, args...))
}

func item(field string, i int) string { return fmt.Sprintf("%s[%d]", field, i) }

func (r *reader) checkHead(of Resource) {
	if of.APIVersion != apiVersion {
		r.refuse("apiVersion", "%q is no version of %s: use %s", of.APIVersion, of.Kind, apiVersion)
	} else if problem := metadata.NameProblem(of.Metadata.Name); problem != "" {
		r.refuse("metadata.name", "%s", problem)
	}
	namespace := of.Metadata.Namespace
	if namespace == "" {
		return
	}
	if of.Kind == clusterwideKind {
		r.refuse("metadata.namespace", "a clusterwide policy has no namespace")
	} else if problem := metadata.NamespaceProblem(namespace); problem != "" {
		r.refuse("metadata.namespace", "%s", problem)
	}
}

// readSpec appends the spec, unless it selects nodes, which no inbound is.
func (r *reader) readSpec(specs []spec, field, origin string, from Spec) []spec {
	out := spec{field: field, egress: callTexts(from), unplayed: unplayedOf(field, from)}
	switch {
	case from.EndpointSelector == nil && from.NodeSelector == nil:
		r.refuse(field+".endpointSelector", "the selector is missing: write {} to select every endpoint of the namespace")
	case from.EndpointSelector != nil && from.NodeSelector != nil:
		r.refuse(field+".nodeSelector", "a spec has one of endpointSelector and nodeSelector")
	case from.NodeSelector != nil && r.kind == kind:
		r.refuse(field+".nodeSelector", "only a %s selects nodes", clusterwideKind)
	}
	if len(from.Ingress)+len(from.IngressDeny)+len(from.Egress)+len(from.EgressDeny) == 0 {
		r.refuse(field, "the spec has no rule: write ingress: [{}] to close every inbound")
	}
	if from.EndpointSelector != nil {
		subject := *from.EndpointSelector
		if r.kind == kind {
			// Cilium puts the policy's own namespace in the place of another one.
			subject.MatchLabels = maps.Clone(subject.MatchLabels)
			delete(subject.MatchLabels, sourceK8s+":"+namespaceLabel)
		}
		out.subject = r.readSelector(field+".endpointSelector", subject)
		if r.kind == kind {
			out.subject = out.subject.inNamespace(r.namespace)
		}
	} else if from.NodeSelector != nil {
		r.readSelector(field+".nodeSelector", *from.NodeSelector)
	}
	r.ofInit = out.subject.asksFor(func(source, key string) bool { return source == sourceReserved && key == initLabel })
	r.checkNotes(field, from)
	where := direction{node: from.EndpointSelector == nil}
	out.allow = r.readIngress(field+".ingress", r.originOf(origin+"ingress"), from.Ingress, where)
	where.deny = true
	out.deny = r.readIngress(field+".ingressDeny", r.originOf(origin+"ingressDeny"), from.IngressDeny, where)
	out.calls = r.readCalls(field+".egress", from.Egress, direction{egress: true, node: where.node})
	r.readCalls(field+".egressDeny", from.EgressDeny, direction{egress: true, deny: true, node: where.node})
	out.defaultDeny = len(out.allow)+len(out.deny) > 0
	if from.EnableDefaultDeny.Ingress != nil {
		// Cilium asks the rules of a direction for it: without a rule it says nothing.
		out.idle = *from.EnableDefaultDeny.Ingress && !out.defaultDeny
		out.defaultDeny = out.defaultDeny && *from.EnableDefaultDeny.Ingress
	}
	if where.node {
		r.ofNodes = r.ofNodes || len(out.allow)+len(out.deny) > 0
		return specs
	}
	return append(specs, out)
}

// originOf returns the name under which Envoy reports a list of rules.
func (r *reader) originOf(list string) string {
	short := "cnp"
	if r.kind == clusterwideKind {
		short = "ccnp"
	}
	return fmt.Sprintf("%s[%s]-%s", short, r.name, list)
}

func (r *reader) readIngress(field, origin string, from []Ingress, where direction) []rule {
	var out []rule
	for i, in := range from {
		at := item(field, i)
		for _, unbuilt := range []struct {
			name, reason string
			value        any
		}{
			{"fromNodes", "meshproof knows no node: the callers of a case are workloads and the world", in.FromNodes},
			{"fromGroups", "meshproof cannot ask a cloud for the addresses of a group: write them as fromCIDR", in.FromGroups},
			{"fromRequires", "Cilium 1.19 has taken the field away", in.FromRequires},
		} {
			if unbuilt.value != nil {
				r.refuse(at+"."+unbuilt.name, "%s", unbuilt.reason)
			}
		}
		if where.deny {
			r.refuseFields(at, "a deny rule has no authentication", "authentication")
		}
		one := rule{field: at, origin: item(origin, i), icmp: len(in.ICMPs) > 0, mergedOn: in.mergedOn()}
		r.checkICMP(at, in.ICMPs, in.ToPorts)
		one.peers = r.readPeers(at, fromPeers, in.lists())
		one.peers.everyone = one.peers.everyone && (len(in.ToPorts) > 0 || one.icmp)
		one.ports = r.readPorts(at+".toPorts", in.ToPorts, where)
		one.auth = r.readAuthentication(at+".authentication", in.Authentication, where)
		out = append(out, one)
	}
	return out
}

// lists are the ways to name peers. Absent is nil.
type lists struct {
	endpoints *[]Selector
	blocks    *[]string
	sets      *[]CIDRRule
	entities  *[]string
}

// lists returns the ways in which a rule may name its peers.
func (in Ingress) lists() lists {
	return lists{in.FromEndpoints, in.FromCIDR, in.FromCIDRSet, in.FromEntities}
}

// hasEmpty reports whether a list is there and empty. Cilium takes the peers for nobody then, whatever another
// list names. (mergeEndpointSelectors in pkg/policy/utils)
func (l lists) hasEmpty() bool {
	return l.endpoints != nil && len(*l.endpoints) == 0 || l.blocks != nil && len(*l.blocks) == 0 ||
		l.sets != nil && len(*l.sets) == 0 || l.entities != nil && len(*l.entities) == 0
}

// The beginnings of the fields that name the peers of a rule, by its direction.
const (
	fromPeers = "from"
	toPeers   = "to"
)

// readPeers reads the peers of a rule. Without a list they are everyone.
func (r *reader) readPeers(field, verb string, from lists) peers {
	var out peers
	var named []string
	if from.endpoints != nil {
		at := field + "." + verb + "Endpoints"
		for i, s := range *from.endpoints {
			out.endpoints = append(out.endpoints, r.readSelector(item(at, i), s).pinPeers(r.namespace, r.ofInit))
		}
		named = appendIf(named, len(*from.endpoints) > 0, verb+"Endpoints")
	}
	if from.blocks != nil {
		at := field + "." + verb + "CIDR"
		for i, text := range *from.blocks {
			out.blocks = append(out.blocks, block{prefix: r.readBlock(item(at, i), text)})
		}
		named = appendIf(named, len(*from.blocks) > 0, verb+"CIDR")
	}
	if from.sets != nil {
		at := field + "." + verb + "CIDRSet"
		for i, set := range *from.sets {
			if verb == toPeers && set.isOfGroup() {
				out.groups = append(out.groups, r.readGroup(item(at, i), set))
				continue
			}
			out.blocks = append(out.blocks, r.readSet(item(at, i), set))
		}
		named = appendIf(named, len(*from.sets) > 0, verb+"CIDRSet")
	}
	if from.entities != nil {
		at := field + "." + verb + "Entities"
		for i, entity := range *from.entities {
			if !slices.Contains(entities, entity) {
				r.refuse(item(at, i), "%q is unknown: use one of %s", entity, strings.Join(entities, ", "))
			}
		}
		out.entities = *from.entities
		named = appendIf(named, len(*from.entities) > 0, verb+"Entities")
	}
	if len(named) > 1 {
		r.refuse(field+"."+named[1], "a rule names its peers in one way: write a rule for %s of its own", named[0])
	}
	if from.hasEmpty() {
		out = peers{}
	}
	out.everyone, out.ways = from == lists{}, named
	return out
}

func appendIf(list []string, add bool, value string) []string {
	if add {
		return append(list, value)
	}
	return list
}

func (r *reader) readSet(field string, from CIDRRule) block {
	if from.isOfGroup() {
		r.refuse(field, "meshproof does not read a CiliumCIDRGroup: write its blocks as cidr")
		return block{}
	}
	of, err := netip.ParsePrefix(from.CIDR)
	if err != nil {
		r.refuse(field+".cidr", "%q is no block of addresses such as 10.0.0.0/8", from.CIDR)
		return block{}
	}
	out := block{prefix: of.Masked()}
	for i, text := range from.Except {
		at := item(field+".except", i)
		except, err := netip.ParsePrefix(text)
		switch {
		case err != nil:
			r.refuse(at, "%q is no block of addresses such as 10.0.0.0/8", text)
		case except.Bits() < of.Bits() || !of.Contains(except.Addr()):
			r.refuse(at, "the block %s is not in %s", text, from.CIDR)
		default:
			out.except = append(out.except, except.Masked())
		}
	}
	return out
}

func (r *reader) readBlock(field, text string) netip.Prefix {
	of, err := netip.ParsePrefix(text)
	if err != nil {
		r.refuse(field, "%q is no block of addresses such as 10.0.0.0/8: a single address is 10.0.0.1/32", text)
		return netip.Prefix{}
	}
	return of.Masked()
}

// The modes of authentication; "" asks for none.
const (
	authDisabled = "disabled"
	authRequired = "required"
	authFail     = "test-always-fail"
)

func (r *reader) readAuthentication(field string, from *Authentication, where direction) string {
	switch {
	case from == nil:
		return ""
	case where.deny:
	case from.Mode != authDisabled && from.Mode != authRequired && from.Mode != authFail:
		r.refuse(field+".mode", "%q is unknown: use %s, %s or %s", from.Mode, authDisabled, authRequired, authFail)
	}
	return from.Mode
}
