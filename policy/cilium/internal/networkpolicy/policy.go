package networkpolicy

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"github.com/meshproof/meshproof/internal/warning"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Policy is a valid policy. It is immutable; [Parse] makes it.
type Policy struct {
	doc      manifest.Document
	resource Resource
	specs    []spec
	// ofNodes is set by a spec of ingress that selects nodes.
	ofNodes bool
}

// spec is a spec that selects endpoints. A spec that selects nodes is left out.
type spec struct {
	field       string
	subject     selector
	defaultDeny bool
	// idle is true for a default deny of ingress without a rule of ingress.
	idle        bool
	allow, deny []rule
	// egress are the texts of the rules about calls of the endpoint.
	egress []string
	// calls are those that its rules let out.
	calls []call
	// unplayed are the fields of rules that no request of the lab can show whole.
	unplayed []string
}

// rule is a rule of ingress.
type rule struct {
	field, origin string
	peers         peers
	// ports is nil where the rule is about every port.
	ports []portRule
	// icmp is true for a rule that is about no port of TCP.
	icmp bool
	auth string
	// mergedOn are the ports on which Cilium merges the rule with others.
	mergedOn []string
}

// peers are what a rule lets in or shuts out. Only one of the lists is set, or everyone.
type peers struct {
	// ways are the fields that name some.
	ways      []string
	everyone  bool
	endpoints []selector
	entities  []string
	blocks    []block
	// groups are texts of the groups of blocks that a rule of egress names.
	groups []string
}

// block is a block of addresses without some blocks in it.
type block struct {
	prefix netip.Prefix
	except []netip.Prefix
}

// portRule is what may be asked on some ports. Without an alternative everything may.
type portRule struct {
	field string
	ports []portRange
	http  []policy.Condition
}

// Resource returns the policy as it was written, with its default namespace filled in. It must
// not be changed.
func (p Policy) Resource() Resource { return p.resource }

// Place returns "file:line" of a field.
func (p Policy) Place(field string) string { return p.doc.Place(field) }

// String returns "namespace/name", and the name alone for a clusterwide policy.
func (p Policy) String() string {
	if p.resource.Kind == clusterwideKind {
		return p.resource.Metadata.Name
	}
	return p.resource.Metadata.Namespace + "/" + p.resource.Metadata.Name
}

// Origins are the names of all rules of ingress.
func (p Policy) Origins() (out []string) {
	for _, s := range p.specs {
		for _, r := range slices.Concat(s.deny, s.allow) {
			out = append(out, r.origin)
		}
	}
	return out
}

func (p Policy) warn(kind warning.Kind, field, format string, args ...any) policy.Warning {
	return policy.Warning{Kind: kind, Place: p.doc.Place(field), Policy: p.String(), Message: fmt.Sprintf(format, args...)}
}

// The values of the option policyEnforcement.
const (
	enforceDefault = "default"
	enforceAlways  = "always"
	enforceNever   = "never"
)

// Options are what the policies themselves do not say: the configuration of the agent.
type Options struct {
	// PolicyEnforcement is default, always or never; "" means default. Always closes an
	// endpoint that no policy selects, never opens all.
	PolicyEnforcement string `yaml:"policyEnforcement"`
	// PolicyAuditMode lets pass what the rules on addresses and ports would drop. HTTP rules
	// stay enforced.
	PolicyAuditMode bool `yaml:"policyAuditMode"`
	// ClusterName is the label io.cilium.k8s.policy.cluster of all workloads; "" means default.
	ClusterName string `yaml:"clusterName"`
	// NamespaceLabels are the labels of namespaces, by their names. Each namespace has
	// kubernetes.io/metadata.name beside them.
	NamespaceLabels map[string]map[string]string `yaml:"namespaceLabels"`
	// Peers are the workloads of the case.
	Peers []language.Peer
}

// MarshalJSON prints the options with their defaults filled in.
func (o Options) MarshalJSON() ([]byte, error) {
	labels := o.NamespaceLabels
	if labels == nil {
		labels = map[string]map[string]string{}
	}
	return json.Marshal(struct {
		PolicyEnforcement string                       `json:"policyEnforcement"`
		PolicyAuditMode   bool                         `json:"policyAuditMode"`
		ClusterName       string                       `json:"clusterName"`
		NamespaceLabels   map[string]map[string]string `json:"namespaceLabels"`
	}{cmp.Or(o.PolicyEnforcement, enforceDefault), o.PolicyAuditMode, cmp.Or(o.ClusterName, defaultCluster), labels})
}

const defaultCluster = "default"

// Document is the part of the options of a case that belongs to Cilium.
type Document struct {
	Cilium Options `yaml:"cilium" json:"cilium"`
}

// ReadOptions reads the options of a case.
func ReadOptions(opts language.Options) (Options, error) {
	var read Document
	if err := opts.Document.DecodeKnown(&read); err != nil {
		return Options{}, err
	}
	o := read.Cilium
	o.PolicyEnforcement, o.ClusterName = cmp.Or(o.PolicyEnforcement, enforceDefault), cmp.Or(o.ClusterName, defaultCluster)
	if modes := []string{enforceDefault, enforceAlways, enforceNever}; !slices.Contains(modes, o.PolicyEnforcement) {
		return Options{}, opts.Document.Errorf("cilium.policyEnforcement", "%q is unknown: use default, always or never", o.PolicyEnforcement)
	}
	o.Peers = opts.Peers
	return o, nil
}

// Namespaces returns a text for each namespace whose labels are stated.
func (o Options) Namespaces() (out []string) {
	for _, name := range slices.Sorted(maps.Keys(o.NamespaceLabels)) {
		// A map of texts has nothing that JSON cannot say.
		labels, _ := json.Marshal(o.NamespaceLabels[name])
		out = append(out, fmt.Sprintf("the namespace %s has the labels %s", name, labels))
	}
	return out
}
