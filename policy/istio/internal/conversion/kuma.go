// Package conversion rewrites AuthorizationPolicies of Istio as MeshTrafficPermissions of Kuma.
//
// It guarantees that the rewritten policies let the same callers with an SVID in, on every inbound,
// and that what they cannot say is an error with the field. It writes text alone: the dialect of Kuma
// reads it. A caller in plaintext differs by design, and a note says so.
package conversion

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/policy/istio/internal/authorization"
	"github.com/meshproof/meshproof/policy/manifest"
)

// rootNamespace is the namespace whose policies apply to all namespaces, and systemNamespace is that
// of Kuma's control plane, whose policies apply to all.
const (
	rootNamespace   = "istio-system"
	systemNamespace = "kuma-system"
)

type (
	permission struct {
		APIVersion string   `yaml:"apiVersion"`
		Kind       string   `yaml:"kind"`
		Metadata   metadata `yaml:"metadata"`
		Spec       spec     `yaml:"spec"`
	}
	metadata struct {
		Name      string            `yaml:"name"`
		Namespace string            `yaml:"namespace"`
		Labels    map[string]string `yaml:"labels"`
	}
	spec struct {
		TargetRef *target `yaml:"targetRef,omitempty"`
		Rules     []rule  `yaml:"rules"`
	}
	target struct {
		Kind   string            `yaml:"kind"`
		Labels map[string]string `yaml:"labels"`
	}
	rule struct {
		Default map[string][]matcher `yaml:"default"`
	}
)

// The lists of a MeshTrafficPermission.
const (
	allow      = "allow"
	deny       = "deny"
	shadowDeny = "allowWithShadowDeny"
)

// ToKuma rewrites policies as MeshTrafficPermissions of Kuma's accepted design: an ALLOW as a list
// allow, a DENY as deny, and the dry run of a DENY, whose rules an ALLOW of the same workloads has
// too, as allowWithShadowDeny.
//
// It refuses what they cannot say: other kinds, actions and fields, values with stars other than a
// beginning, a rule that meets every caller, and a mesh in which Istio lets callers in where no
// policy speaks. All errors are joined, one line each.
//
// A whole principal of cluster.local becomes one of the mesh's trust domain, as Istio reads it. It is refused
// where nobody stated the domain, which is zero then.
func ToKuma(docs []manifest.Document, mesh spiffeid.TrustDomain) (capability.Conversion, error) {
	var all []read
	var errs []error
	closed := false
	for _, doc := range docs {
		if !authorization.Owns(doc) {
			errs = append(errs, doc.Errorf("", "kuma cannot say it: a MeshTrafficPermission says what an AuthorizationPolicy says, and nothing of tokens and mTLS"))
			continue
		}
		one, err := readPolicy(doc, mesh)
		all, errs = append(all, one), append(errs, err)
		closed = closed || one.namespace == rootNamespace && one.list == allow && len(one.labels) == 0
	}
	if err := errors.Join(errs...); err != nil {
		return capability.Conversion{}, err
	}
	if len(docs) > 0 && !closed {
		return capability.Conversion{}, docs[0].Errorf("", "kuma cannot say it: where no ALLOW applies, Istio lets every caller in and Kuma none: add an AuthorizationPolicy with the name allow-nothing, the namespace %s and spec: {}", rootNamespace)
	}
	var out bytes.Buffer
	for _, one := range all {
		if one.list == shadowDeny {
			errs = append(errs, one.checkGranted(all))
		}
		if len(one.matchers) == 0 {
			continue
		}
		text, err := yaml.Marshal(one.permission())
		if err != nil {
			return capability.Conversion{}, err
		}
		if out.Len() > 0 {
			out.WriteString("---\n")
		}
		out.Write(append(bytes.TrimSpace(text), '\n'))
	}
	if err := errors.Join(errs...); err != nil {
		return capability.Conversion{}, err
	}
	return capability.Conversion{YAML: out.Bytes(), Notes: []string{
		"Envoy names the policy that decided, and not the rule",
		"a caller in plaintext passes Kuma's policies on a permissive inbound, and Istio judges it",
		"aliases of the trust domain stand in Istio's mesh config: add a matcher for each",
		"Istio's root namespace is taken for " + rootNamespace + ", and the namespace of Kuma's control plane for " + systemNamespace,
		"Kuma merges the slashes of a path, and refuses an escaped one: Istio compares /a//b as it is written, unless its mesh config says MERGE_SLASHES or DECODE_AND_MERGE_SLASHES",
	}}, nil
}

// read is a policy as matchers.
type read struct {
	doc             manifest.Document
	name, namespace string
	labels          map[string]string
	list            string
	matchers        []matcher
	// fields are the places of the rules that the matchers are of.
	fields []string
}

func readPolicy(doc manifest.Document, mesh spiffeid.TrustDomain) (read, error) {
	p, err := authorization.Parse(doc)
	if err != nil {
		return read{}, err
	}
	resource := p.Resource()
	out := read{doc: doc, name: resource.Metadata.Name, namespace: resource.Metadata.Namespace, labels: resource.Spec.Selector.Labels()}
	switch action := resource.Spec.Action; {
	case out.namespace == systemNamespace:
		return out, doc.Errorf("metadata.namespace", "kuma cannot say it: the policies of %s apply to all namespaces there", systemNamespace)
	case action == "ALLOW" && !p.Observes():
		out.list = allow
	case action == "DENY" && !p.Observes():
		out.list = deny
	case action == "DENY":
		out.list = shadowDeny
	default:
		return out, doc.Errorf("spec.action", "kuma cannot say it: it has ALLOW, DENY and the dry run of a DENY")
	}
	for _, key := range slices.Sorted(maps.Keys(out.labels)) {
		if strings.Contains(key, "kuma.io/") {
			return out, doc.Errorf("spec.selector", "kuma cannot say it: no pod has the label %s, and Kuma gives it to a Dataplane", key)
		}
		if out.labels[key] == "" {
			return out, doc.Errorf("spec.selector", "kuma cannot say it: an empty value of %s selects the workloads without the label too there", key)
		}
	}
	if resource.Spec.Rules == nil {
		return out, nil
	}
	var errs []error
	for i, rule := range *resource.Spec.Rules {
		w := writer{doc: doc, mesh: mesh, field: item("spec.rules", i)}
		made := w.matchers(rule)
		errs = append(errs, w.errs...)
		for _, m := range made {
			out.matchers, out.fields = append(out.matchers, m), append(out.fields, w.field)
		}
	}
	return out, errors.Join(errs...)
}

// checkGranted refuses a dry run of a request that no ALLOW of the same workloads lets in:
// allowWithShadowDeny would let it in.
func (r read) checkGranted(all []read) error {
	for i, m := range r.matchers {
		granted := slices.ContainsFunc(all, func(other read) bool {
			return other.list == allow && other.namespace == r.namespace && maps.Equal(other.labels, r.labels) && slices.ContainsFunc(other.matchers, m.equal)
		})
		if !granted {
			return r.doc.Errorf(r.fields[i], "kuma cannot say it: its dry run of a deny lets the same requests in, and no ALLOW of the same workloads has this rule: add it there")
		}
	}
	return nil
}

func (r read) permission() permission {
	out := permission{APIVersion: "kuma.io/v1alpha1", Kind: "MeshTrafficPermission", Metadata: metadata{Name: r.name, Namespace: r.namespace, Labels: map[string]string{"kuma.io/mesh": "default"}}}
	if r.namespace == rootNamespace {
		out.Metadata.Namespace = systemNamespace
	}
	if len(r.labels) > 0 {
		out.Spec.TargetRef = &target{"Dataplane", r.labels}
	}
	out.Spec.Rules = []rule{{Default: map[string][]matcher{r.list: r.matchers}}}
	return out
}

// hasStar reports whether a value of Istio stands for more than itself.
func hasStar(value string) bool {
	return strings.HasPrefix(value, "*") || strings.HasSuffix(value, "*")
}
