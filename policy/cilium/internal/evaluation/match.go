package evaluation

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/cilium/internal/networkpolicy"
)

const (
	podNamespace = "io.kubernetes.pod.namespace"
	nsLabels     = "io.cilium.k8s.namespace.labels."
)

// unknownKeys begin the keys that Cilium knows no workload by. An expression of them took most of the time of a proof.
var unknownKeys = []string{
	"annotation", "etcd_node", "k8s.io", "io.kubernetes", "pod-template-generation", "pod-template-hash", "controller-uid", "controller-revision-hash",
	"apps.kubernetes.io/pod-index", "statefulset.kubernetes.io/pod-name", "batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-completion-index",
}

// isUnknown reports whether Cilium knows no workload by a key.
func isUnknown(key string) bool {
	if strings.Contains(key, "beta.kubernetes.io") || strings.HasPrefix(strings.TrimPrefix(key, "topology."), "kubernetes.io") {
		return true
	}
	for _, begin := range unknownKeys {
		if strings.HasPrefix(key, begin) {
			return true
		}
	}
	return false
}

// labelsOf returns the labels that Cilium knows a workload by.
func labelsOf(w policy.Workload, opts networkpolicy.Options) map[string]string {
	namespace := w.Namespace
	if namespace == "" {
		namespace = "default"
	}
	out := map[string]string{}
	for key, value := range w.Labels {
		if !strings.HasPrefix(key, "io.cilium.k8s") {
			out[key] = value
		}
	}
	for key, value := range opts.NamespaceLabels[namespace] {
		out[nsLabels+key] = value
	}
	out[nsLabels+"kubernetes.io/metadata.name"] = namespace
	out[podNamespace] = namespace
	out["io.cilium.k8s.policy.cluster"] = opts.ClusterName
	if w.ServiceAccount != "" {
		out["io.cilium.k8s.policy.serviceaccount"] = w.ServiceAccount
	}
	for key := range out {
		if isUnknown(key) && !strings.HasPrefix(key, podNamespace) {
			delete(out, key)
		}
	}
	return out
}

// withoutNamespace leaves out the namespace that a policy with a namespace may not choose.
func withoutNamespace(s networkpolicy.Selector) networkpolicy.Selector {
	labels := map[string]string{}
	for key, value := range s.MatchLabels {
		if key != "k8s:"+podNamespace {
			labels[key] = value
		}
	}
	s.MatchLabels = labels
	return s
}

// meets reports whether a set of labels of one source meets the selector.
func meets(s networkpolicy.Selector, labels map[string]string, source string) bool {
	for key, want := range s.MatchLabels {
		if value, ok := find(labels, source, key); !ok || value != want {
			return false
		}
	}
	for _, e := range s.MatchExpressions {
		value, ok := find(labels, source, e.Key)
		listed := false
		for _, v := range e.Values {
			listed = listed || ok && v == value
		}
		if e.Operator == "In" && !listed || e.Operator == "NotIn" && listed || e.Operator == "Exists" && !ok || e.Operator == "DoesNotExist" && ok {
			return false
		}
	}
	return true
}

// namesKey reports whether the selector is about a key, as it is written.
func namesKey(s networkpolicy.Selector, written string) bool {
	_, found := s.MatchLabels[written]
	for _, e := range s.MatchExpressions {
		found = found || e.Key == written
	}
	return found
}

// find looks for a key, which may name its source.
func find(labels map[string]string, source, key string) (string, bool) {
	if of, rest, written := strings.Cut(key, ":"); written {
		if of != "any" && of != source {
			return "", false
		}
		key = rest
	}
	value, ok := labels[key]
	return value, ok
}

// caller is who calls: some workloads of the case, or the world. A certificate names a workload
// by any of its names: Envoy compares DNS names with a principal too.
type caller struct {
	workloads []policy.Workload
	address   netip.Addr
}

func (q question) callerOf(r policy.Request) caller {
	c := caller{address: r.Source}
	for _, peer := range q.opts.Peers {
		if name := peer.Identity.String(); slices.Contains(r.URIs, name) || slices.Contains(r.DNS, name) {
			c.workloads = append(c.workloads, peer.Workload)
		}
	}
	return c
}

// names reports whether the rule is about the port and the caller, and the caller has proven
// what the rule demands.
func (q question) names(w written, c caller, r policy.Request) bool {
	if !q.onPort(w) || w.Authentication != nil && w.Authentication.Mode == "test-always-fail" {
		return false
	}
	for _, workload := range c.workloads {
		if q.peer(w, labelsOf(workload, q.opts), "k8s", r.Source) {
			return true
		}
	}
	if len(c.workloads) > 0 || w.Authentication != nil && w.Authentication.Mode == "required" {
		return false
	}
	return q.peer(w, nil, "reserved", r.Source)
}

// mode is what the rule demands of its callers.
func (w written) mode() string {
	if w.Authentication == nil {
		return ""
	}
	return w.Authentication.Mode
}

// doubts reports whether the rule is about the port and the caller, who cannot prove what it
// demands.
func (q question) doubts(w written, c caller, r policy.Request) bool {
	mode := w.mode()
	if !q.onPort(w) || mode != "required" && mode != "test-always-fail" {
		return false
	}
	w.Authentication = nil
	return q.names(w, c, r) && (mode == "test-always-fail" || len(c.workloads) == 0)
}

// doubtsSomeone reports whether the rule names any caller who cannot prove what it demands.
func (q question) doubtsSomeone(w written) bool {
	return w.mode() == "test-always-fail" && q.someone(w) || w.mode() == "required" && q.someWorld(w)
}

// letsSomeone reports whether the rule names any caller who can prove what it demands.
func (q question) letsSomeone(w written) bool {
	return w.mode() != "test-always-fail" && (q.someWorkload(w) || w.mode() != "required" && q.someWorld(w))
}

// loses reports whether the rule sends its callers on tcp to a proxy, which reads HTTP.
func (q question) loses(w written) bool {
	return q.inbound.Protocol == policy.TCP && len(w.ICMPs) == 0 && q.hasHTTP(w)
}

// hasHTTP reports whether an entry of the rule that is about the inbound's port has HTTP rules.
func (q question) hasHTTP(w written) bool {
	return slices.ContainsFunc(q.entries(w), func(entry networkpolicy.PortRule) bool { return entry.Rules != nil && len(entry.Rules.HTTP) > 0 })
}

// someone reports whether the rule names any caller at all.
func (q question) someone(w written) bool { return q.someWorkload(w) || q.someWorld(w) }

func (q question) someWorkload(w written) bool {
	for _, peer := range q.opts.Peers {
		if q.peer(w, labelsOf(peer.Workload, q.opts), "k8s", netip.Addr{}) {
			return true
		}
	}
	return false
}

func (q question) someWorld(w written) bool {
	if !namesNobody(w) && (w.FromCIDR != nil && len(*w.FromCIDR) > 0 || w.FromCIDRSet != nil && len(*w.FromCIDRSet) > 0) {
		return true
	}
	return q.peer(w, nil, "reserved", netip.IPv4Unspecified()) || q.peer(w, nil, "reserved", netip.IPv6Unspecified())
}

// peer reports whether the rule names a set of labels, or an address of the world.
func (q question) peer(w written, labels map[string]string, source string, address netip.Addr) bool {
	if w.FromEndpoints == nil && w.FromCIDR == nil && w.FromCIDRSet == nil && w.FromEntities == nil {
		return len(w.ToPorts) > 0 || len(w.ICMPs) > 0
	}
	if namesNobody(w) {
		return false
	}
	ofWorld := source == "reserved"
	if w.FromEndpoints != nil {
		for _, s := range *w.FromEndpoints {
			if meets(s, labels, source) && q.inScope(s, w, labels, source) {
				return true
			}
		}
	}
	if w.FromEntities != nil {
		for _, entity := range *w.FromEntities {
			switch entity {
			case "all":
				return true
			case "cluster", "cluster-mesh":
				if !ofWorld {
					return true
				}
			case "world":
				if ofWorld {
					return true
				}
			}
		}
	}
	return ofWorld && inBlocks(w, address)
}

// namesNobody reports whether a list of peers has no item, so that no other list counts.
func namesNobody(w written) bool {
	none := w.FromEndpoints != nil && len(*w.FromEndpoints) == 0
	none = none || w.FromEntities != nil && len(*w.FromEntities) == 0
	none = none || w.FromCIDR != nil && len(*w.FromCIDR) == 0
	return none || w.FromCIDRSet != nil && len(*w.FromCIDRSet) == 0
}

func inBlocks(w written, address netip.Addr) bool {
	if w.FromCIDR != nil {
		for _, text := range *w.FromCIDR {
			if inBlock(text, address) {
				return true
			}
		}
	}
	if w.FromCIDRSet == nil {
		return false
	}
	for _, set := range *w.FromCIDRSet {
		in := inBlock(set.CIDR, address)
		for _, except := range set.Except {
			in = in && !inBlock(except, address)
		}
		if in {
			return true
		}
	}
	return false
}

func inBlock(text string, address netip.Addr) bool {
	block, err := netip.ParsePrefix(text)
	return err == nil && block.Contains(address)
}

// inScope bounds a selector of peers to the cluster, and to a namespace or to pods.
func (q question) inScope(s networkpolicy.Selector, w written, labels map[string]string, source string) bool {
	keys := []string{}
	for key := range s.MatchLabels {
		keys = append(keys, key)
	}
	for _, e := range s.MatchExpressions {
		keys = append(keys, e.Key)
	}
	ofNamespaces, ofPod, ofCluster := false, false, false
	for _, key := range keys {
		if strings.HasPrefix(key, "reserved:") {
			return true
		}
		bare := strings.TrimPrefix(strings.TrimPrefix(key, "k8s:"), "any:")
		ofNamespaces = ofNamespaces || strings.HasPrefix(bare, nsLabels)
		ofPod = ofPod || bare == podNamespace
		ofCluster = ofCluster || bare == "io.cilium.k8s.policy.cluster"
	}
	switch {
	case !ofCluster && source != "k8s":
		return false
	case ofPod, w.namespace == "" && w.ofStarting:
		return true
	case w.namespace == "":
		return source == "k8s"
	case ofNamespaces:
		return true
	default:
		return source == "k8s" && labels[podNamespace] == w.namespace
	}
}

// onPort reports whether the rule is about the inbound's port.
func (q question) onPort(w written) bool {
	if len(w.ICMPs) > 0 {
		return false
	}
	return len(w.ToPorts) == 0 || len(q.entries(w)) > 0
}

// entries are those of toPorts that are about the inbound's port.
func (q question) entries(w written) (out []networkpolicy.PortRule) {
	for _, entry := range w.ToPorts {
		for _, port := range entry.Ports {
			if q.isPort(port) {
				out = append(out, entry)
				break
			}
		}
	}
	return out
}

func (q question) isPort(p networkpolicy.PortProtocol) bool {
	if p.Protocol != "" && p.Protocol != "TCP" && p.Protocol != "ANY" {
		return false
	}
	first, err := strconv.Atoi(p.Port)
	if err != nil {
		return strings.EqualFold(p.Port, q.inbound.Name)
	}
	last := first
	if p.EndPort > 0 {
		last = int(p.EndPort)
	}
	return last == 0 || first <= int(q.inbound.Port) && int(q.inbound.Port) <= last
}

// letsAllPass reports whether the rule lets every request on the port pass.
func (q question) letsAllPass(w written) bool {
	if len(w.ToPorts) == 0 {
		return true
	}
	for _, entry := range q.entries(w) {
		if entry.Rules == nil || len(entry.Rules.HTTP) == 0 {
			return true
		}
	}
	return false
}
