package authorization

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/linkerd/internal/object"
)

// Annotation states the default inbound policy of a namespace or of a workload.
const Annotation = "config.linkerd.io/default-inbound-policy"

// The access policies, which are the default inbound policies too.
const (
	allAuthenticated       = "all-authenticated"
	allUnauthenticated     = "all-unauthenticated"
	clusterAuthenticated   = "cluster-authenticated"
	clusterUnauthenticated = "cluster-unauthenticated"
	denyAll                = "deny"
	audit                  = "audit"
)

var accessPolicies = []string{allAuthenticated, allUnauthenticated, clusterAuthenticated, clusterUnauthenticated, denyAll, audit}

// clusterNetworks are those of an installation of Linkerd that states none.
var clusterNetworks = []string{"10.0.0.0/8", "100.64.0.0/10", "172.16.0.0/12", "192.168.0.0/16", "fd00::/8"}

// Options are what the policies themselves do not say: how Linkerd is installed.
type Options struct {
	// DefaultInboundPolicy decides where no Server selects the port; "" means all-unauthenticated.
	DefaultInboundPolicy string `yaml:"defaultInboundPolicy" json:"defaultInboundPolicy"`
	// IdentityDomain and ControlPlaneNamespace are the end of the name of each service account;
	// "" means cluster.local and linkerd.
	IdentityDomain        string `yaml:"identityDomain" json:"identityDomain"`
	ControlPlaneNamespace string `yaml:"controlPlaneNamespace" json:"controlPlaneNamespace"`
	// LoopbackBypass lets in what calls from a loopback address, such as a probe beside the proxy.
	LoopbackBypass bool `yaml:"loopbackBypass" json:"loopbackBypass"`
	// ClusterNetworks are the addresses of the cluster.
	ClusterNetworks []string `yaml:"clusterNetworks" json:"clusterNetworks"`
	// Annotations are those of namespaces, such as shop, and of workloads, such as shop/web.
	Annotations map[string]map[string]string `yaml:"annotations" json:"annotations"`
	// TrustDomain is the mesh's own.
	TrustDomain spiffeid.TrustDomain `yaml:"-" json:"-"`
	// Foreign is the caller, where that is no account of the own mesh. Its name is the domain of its mesh, with the namespace of
	// the control plane, or its whole name. The zero value is nobody. What
	// the policies say of service accounts of the own mesh is then about nobody.
	Foreign capability.Foreigner `yaml:"-" json:"-"`
}

// MarshalJSON prints the options with their defaults filled in.
func (o Options) MarshalJSON() ([]byte, error) {
	type plainOptions Options
	return json.Marshal(plainOptions(o.complete()))
}

func (o Options) complete() Options {
	o.DefaultInboundPolicy = cmp.Or(o.DefaultInboundPolicy, allUnauthenticated)
	o.IdentityDomain, o.ControlPlaneNamespace = cmp.Or(o.IdentityDomain, "cluster.local"), cmp.Or(o.ControlPlaneNamespace, "linkerd")
	if o.ClusterNetworks == nil {
		o.ClusterNetworks = clusterNetworks
	}
	if o.Annotations == nil {
		o.Annotations = map[string]map[string]string{}
	}
	return o
}

// Document is the part of the options of a case that belongs to Linkerd.
type Document struct {
	Linkerd Options `yaml:"linkerd" json:"linkerd"`
}

// defaultTrustDomain is that of a mesh that states none.
var defaultTrustDomain = spiffeid.RequireTrustDomainFromString("trust-domain.mesh")

// ReadOptions reads the options of a case.
func ReadOptions(opts language.Options) (Options, error) {
	var read Document
	if err := opts.Document.DecodeKnown(&read); err != nil {
		return Options{}, err
	}
	o := read.Linkerd.complete()
	if o.TrustDomain = opts.TrustDomain; o.TrustDomain.IsZero() {
		o.TrustDomain = defaultTrustDomain
	}
	r := &object.Reader{Doc: opts.Document}
	checkAccess(r, "linkerd.defaultInboundPolicy", o.DefaultInboundPolicy)
	r.CheckName("linkerd.identityDomain", o.IdentityDomain)
	r.CheckNamespace("linkerd.controlPlaneNamespace", o.ControlPlaneNamespace)
	for i, text := range o.ClusterNetworks {
		if _, err := netip.ParsePrefix(text); err != nil {
			r.Refuse(object.Item("linkerd.clusterNetworks", i), "%q is no block of addresses such as 10.0.0.0/8", text)
		}
	}
	for _, of := range slices.Sorted(maps.Keys(o.Annotations)) {
		for _, key := range slices.Sorted(maps.Keys(o.Annotations[of])) {
			at := "linkerd.annotations[\"" + of + "\"][\"" + key + "\"]"
			if key != Annotation {
				r.Refuse(at, "meshproof reads no annotation but %s", Annotation)
			} else {
				checkAccess(r, at, o.Annotations[of][key])
			}
		}
	}
	return o, r.Err()
}

func checkAccess(r *object.Reader, field, policy string) {
	if !slices.Contains(accessPolicies, policy) {
		r.Refuse(field, "%q is unknown: use one of %s", policy, strings.Join(accessPolicies, ", "))
	}
}

// defaultPolicy returns the default inbound policy of a workload: its own annotation, that of its
// namespace, or that of the cluster.
func (o Options) defaultPolicy(w policy.Workload) string {
	namespace := cmp.Or(w.Namespace, object.DefaultNamespace)
	return cmp.Or(o.Annotations[namespace+"/"+w.Name][Annotation], o.Annotations[namespace][Annotation], o.DefaultInboundPolicy)
}
