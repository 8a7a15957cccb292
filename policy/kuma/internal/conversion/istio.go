package conversion

import (
	"bytes"
	"errors"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/lowering"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/kuma/internal/resource"
	"github.com/meshproof/meshproof/policy/kuma/internal/target"
)

// rootNamespace is the namespace whose policies Istio applies to all namespaces.
const rootNamespace = "istio-system"

type (
	authorizationPolicy struct {
		APIVersion string            `yaml:"apiVersion"`
		Kind       string            `yaml:"kind"`
		Metadata   metadata          `yaml:"metadata"`
		Spec       authorizationSpec `yaml:"spec"`
	}
	metadata struct {
		Name        string            `yaml:"name"`
		Namespace   string            `yaml:"namespace"`
		Annotations map[string]string `yaml:"annotations,omitempty"`
	}
	authorizationSpec struct {
		Selector *labelSelector      `yaml:"selector,omitempty"`
		Action   string              `yaml:"action,omitempty"`
		Rules    []authorizationRule `yaml:"rules,omitempty"`
	}
	labelSelector struct {
		MatchLabels map[string]string `yaml:"matchLabels"`
	}
	authorizationRule struct {
		From []map[string]authorizationSource `yaml:"from,omitempty"`
		To   []map[string]operation           `yaml:"to,omitempty"`
		When []condition                      `yaml:"when,omitempty"`
	}
	authorizationSource struct {
		Principals []string `yaml:"principals"`
	}
	operation struct {
		Methods []string `yaml:"methods,omitempty"`
		Paths   []string `yaml:"paths,omitempty"`
	}
	condition struct {
		Key    string   `yaml:"key"`
		Values []string `yaml:"values"`
	}
)

// ToIstio rewrites policies as AuthorizationPolicies of Istio that let the same requests in: a
// DENY, a DENY as a dry run, and an ALLOW for the lists of each policy, and one policy without
// rules for the whole mesh, because Kuma refuses where no policy speaks.
//
// It refuses what Istio cannot say: the legacy form, a target other than a mesh or labels, and
// values that Istio reads otherwise. All errors are joined, one line each.
func ToIstio(ps []permission.Policy) (capability.Conversion, error) {
	all := []authorizationPolicy{newPolicy("allow-nothing", rootNamespace)}
	var errs []error
	places := map[string]string{}
	for i := range ps {
		made, err := toIstio(&ps[i])
		all, errs = append(all, made...), append(errs, err)
		for _, one := range made {
			name := one.Metadata.Namespace + "/" + one.Metadata.Name
			if first, ok := places[name]; ok {
				errs = append(errs, ps[i].Doc.Errorf("", "istio cannot say it: this policy and that of %s would both be %s: rename one", first, name))
			}
			places[name] = ps[i].Place()
		}
		if ps[i].ID.Mesh != ps[0].ID.Mesh {
			errs = append(errs, ps[i].Doc.Errorf("", "istio cannot say it: the policies are of the meshes %s and %s, and Istio has one: convert each by itself", ps[0].ID.Mesh, ps[i].ID.Mesh))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return capability.Conversion{}, err
	}
	var out bytes.Buffer
	for i, one := range all {
		if i > 0 {
			out.WriteString("---\n")
		}
		text, err := yaml.Marshal(one)
		if err != nil {
			return capability.Conversion{}, err
		}
		out.Write(text)
	}
	return capability.Conversion{YAML: out.Bytes(), Notes: []string{
		"Envoy names the rule that decided, as in ns[istio-system]-policy[p-allow]-rule[0]",
		"the dry run says what it would refuse; it does not say what Kuma's shadow says of other requests",
		"a caller in plaintext passes Kuma's policies on a permissive inbound, and Istio judges it",
		"the namespace of Kuma's control plane is taken for " + permission.Options{}.ControlPlaneNamespace() + ", and Istio's root namespace for " + rootNamespace,
		"Kuma merges the slashes of a path, and refuses an escaped one: Istio compares /a//b as it is written, unless its mesh config says normalization: DECODE_AND_MERGE_SLASHES",
	}}, nil
}

func newPolicy(name, namespace string) authorizationPolicy {
	return authorizationPolicy{APIVersion: "security.istio.io/v1", Kind: "AuthorizationPolicy", Metadata: metadata{Name: name, Namespace: namespace}}
}

// toIstio returns a policy for each list that has a matcher.
func toIstio(p *permission.Policy) ([]authorizationPolicy, error) {
	selector, namespace, err := targetOf(p)
	if err != nil {
		return nil, err
	}
	var out []authorizationPolicy
	var errs []error
	lists := lowering.MergeLists([]permission.Policy{*p})
	add := func(suffix, action string, matchers ...permission.Matcher) *authorizationPolicy {
		one := newPolicy(p.ID.Name+suffix, namespace)
		one.Spec.Selector, one.Spec.Action = selector, action
		for _, m := range matchers {
			rule, err := ruleOf(p, m)
			one.Spec.Rules, errs = append(one.Spec.Rules, rule), append(errs, err)
		}
		if len(matchers) > 0 {
			out = append(out, one)
			return &out[len(out)-1]
		}
		return nil
	}
	add("-deny", "DENY", lists[permission.Deny]...)
	shadowed := lists[permission.AllowWithShadowDeny]
	if trial := add("-shadow-deny", "DENY", shadowed...); trial != nil {
		trial.Metadata.Annotations = map[string]string{"istio.io/dry-run": "true"}
	}
	add("-allow", "", append(shadowed[:len(shadowed):len(shadowed)], lists[permission.Allow]...)...)
	return out, errors.Join(errs...)
}

// targetOf returns the selector and the namespace of the workloads that the policy selects.
func targetOf(p *permission.Policy) (*labelSelector, string, error) {
	const cannot = "istio cannot say it: "
	t := p.Target
	switch role := p.Role(permission.Options{}); {
	case p.IsFrom():
		return nil, "", p.Doc.Errorf("spec.from", cannot+"the legacy form names services and tags instead of SPIFFE IDs")
	case p.ID.Zone != "", p.Labels[resource.LabelEffect] != "", p.Labels[resource.LabelOrigin] == resource.OriginZone:
		return nil, "", p.Doc.Errorf("", cannot+"the policy is of one zone, or has an effect by label: write the policy without these labels")
	case t.Kind == target.Route, t.Name != "", t.Section != "":
		return nil, "", p.Doc.Errorf("spec.targetRef", cannot+"a policy selects workloads by labels, and no name, section or route: write labels")
	case role == resource.RoleOwner && p.Universal, role == resource.RoleConsumer:
		return nil, "", p.Doc.Errorf("", cannot+"the role %s selects the callers of a namespace", role)
	default:
		namespace := rootNamespace
		if role == resource.RoleOwner {
			namespace = p.ID.Namespace
		}
		if len(t.Labels) == 0 {
			return nil, namespace, nil
		}
		labels := map[string]string{}
		for _, label := range t.Labels {
			if strings.Contains(label.Key, "kuma.io/") {
				return nil, "", p.Doc.Errorf("spec.targetRef", cannot+"the label %s is Kuma's own, which no pod has", label.Key)
			}
			if label.Value == "" {
				return nil, "", p.Doc.Errorf("spec.targetRef", cannot+"an empty value of %s selects the workloads without the label too, and there it does not", label.Key)
			}
			labels[label.Key] = label.Value
		}
		return &labelSelector{labels}, namespace, nil
	}
}

// ruleOf returns the rule that the requests of a matcher meet.
func ruleOf(p *permission.Policy, m permission.Matcher) (out authorizationRule, err error) {
	refuse := func(value, why string) {
		err = errors.Join(err, p.Doc.Errorf(m.Field, "istio cannot say it: Istio reads %q otherwise, because %s", value, why))
	}
	if m.Identity != nil {
		principal, _ := strings.CutPrefix(m.Identity.Value, permission.Scheme)
		switch {
		case strings.HasPrefix(principal, "cluster.local/"):
			refuse(principal, "it takes cluster.local for the trust domain of the mesh")
		case m.Identity.Kind == policy.Prefix:
			principal += "*"
		}
		out.From = []map[string]authorizationSource{{"source": {[]string{principal}}}}
	}
	var to operation
	if m.Method != "" {
		if strings.Contains(m.Method, "*") {
			refuse(m.Method, "a star stands for other text")
		}
		to.Methods = []string{m.Method}
	}
	if m.Path != nil {
		value := m.Path.Value
		if strings.ContainsAny(value, "*{}") {
			refuse(value, "a star and braces stand for other text")
		}
		if strings.Contains(value, "//") {
			refuse(value, "Kuma merges slashes before it compares a path")
		}
		to.Paths = []string{value}
		if below := strings.TrimRight(value, "/"); m.Path.Kind != policy.Exact {
			to.Paths = []string{below, below + "/*"}
			if below == "" {
				to.Paths = []string{"/*"}
			}
		}
	}
	if m.Method != "" || m.Path != nil {
		out.To = []map[string]operation{{"operation": to}}
	}
	if m.SNI != "" {
		out.When = []condition{{"connection.sni", []string{m.SNI}}}
	}
	return out, err
}
