// Package mesh is a small compiler of another mesh. It compiles AuthorizationPolicy of
// Gateway API (GEP-3779) to Envoy's network RBAC.
//
// It expects policies that an API server has validated.
package mesh

import (
	"cmp"
	"context"
	"fmt"

	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	networkrbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/rbac/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
	"github.com/meshproof/meshproof/xds"
)

// Compiler compiles AuthorizationPolicies. It implements conformance.Compiler.
type Compiler struct{}

// Compile selects the policies of the inbound's workload. When there are any, they allow
// only the callers that a rule names. Envoy reports the name of the rule.
func (Compiler) Compile(_ context.Context, in policy.Inbound, docs []manifest.Document, opts language.Options) (xds.Filters, error) {
	rules := &rbacv3.RBAC{Action: rbacv3.RBAC_ALLOW, Policies: map[string]*rbacv3.Policy{}}
	selected := false
	for _, doc := range docs {
		var p authorizationPolicy
		if err := doc.Decode(&p); err != nil {
			return xds.Filters{}, err
		}
		p.Metadata.Namespace = cmp.Or(p.Metadata.Namespace, "default")
		applies, err := p.selects(in.Workload)
		if err != nil {
			return xds.Filters{}, fmt.Errorf("%s: %w", doc.Place("spec.targetRefs"), err)
		}
		if !applies {
			continue
		}
		selected = true
		for i, r := range p.Spec.Rules {
			if compiled := p.rule(r, opts.TrustDomain.IDString()); compiled != nil {
				rules.Policies[fmt.Sprintf("%s/%s/%03d", p.Metadata.Namespace, p.Metadata.Name, i)] = compiled
			}
		}
	}
	if !selected {
		return xds.Filters{}, nil
	}
	return xds.Filters{Network: []*networkrbacv3.RBAC{{Rules: rules}}}, nil
}

var operators = map[string]selection.Operator{
	"In": selection.In, "NotIn": selection.NotIn, "Exists": selection.Exists, "DoesNotExist": selection.DoesNotExist,
}

func (p authorizationPolicy) selects(w policy.Workload) (bool, error) {
	if p.Metadata.Namespace != w.Namespace {
		return false, nil
	}
	for _, target := range p.Spec.TargetRefs {
		selector := labels.SelectorFromSet(target.Selector.MatchLabels)
		for _, e := range target.Selector.MatchExpressions {
			requirement, err := labels.NewRequirement(e.Key, operators[e.Operator], e.Values)
			if err != nil {
				return false, err
			}
			selector = selector.Add(*requirement)
		}
		if selector.Matches(labels.Set(w.Labels)) {
			return true, nil
		}
	}
	return false, nil
}

// rule returns nil for a rule that names no caller.
func (p authorizationPolicy) rule(r rule, trustDomain string) *rbacv3.Policy {
	out := &rbacv3.Policy{}
	for _, port := range r.NetworkAttributes.Ports {
		out.Permissions = append(out.Permissions, &rbacv3.Permission{Rule: &rbacv3.Permission_DestinationPort{DestinationPort: port}})
	}
	if out.Permissions == nil {
		out.Permissions = []*rbacv3.Permission{{Rule: &rbacv3.Permission_Any{Any: true}}}
	}
	if r.Sources == nil {
		out.Principals = []*rbacv3.Principal{{Identifier: &rbacv3.Principal_Any{Any: true}}}
		return out
	}
	for _, s := range *r.Sources {
		out.Principals = append(out.Principals, principal(p.sourceName(s, trustDomain)))
	}
	if out.Principals == nil {
		return nil
	}
	return out
}

// sourceName returns the matcher of a source's URI SAN. A slash ends the prefix of all
// service accounts of a namespace.
func (p authorizationPolicy) sourceName(s source, trustDomain string) *matcherv3.StringMatcher {
	if s.Type == "SPIFFE" {
		return &matcherv3.StringMatcher{MatchPattern: &matcherv3.StringMatcher_Exact{Exact: s.SPIFFE}}
	}
	accounts := trustDomain + "/ns/" + cmp.Or(s.ServiceAccount.Namespace, p.Metadata.Namespace) + "/sa/"
	if s.ServiceAccount.Name == "*" {
		return &matcherv3.StringMatcher{MatchPattern: &matcherv3.StringMatcher_Prefix{Prefix: accounts}}
	}
	return &matcherv3.StringMatcher{MatchPattern: &matcherv3.StringMatcher_Exact{Exact: accounts + s.ServiceAccount.Name}}
}

func principal(name *matcherv3.StringMatcher) *rbacv3.Principal {
	return &rbacv3.Principal{Identifier: &rbacv3.Principal_Authenticated_{Authenticated: &rbacv3.Principal_Authenticated{PrincipalName: name}}}
}
