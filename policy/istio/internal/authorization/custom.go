package authorization

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/meshproof/meshproof/internal/authorizer"
	"github.com/meshproof/meshproof/internal/refusal"
	"github.com/meshproof/meshproof/internal/warning"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/manifest"
)

// ExtensionProvider is an entry of extensionProviders of Istio's mesh config
// (MeshConfig.ExtensionProvider of istio.io/api), as far as the lab plays it: an authorizer of
// gRPC.
type ExtensionProvider struct {
	Name string        `yaml:"name" json:"name"`
	GRPC *grpcProvider `yaml:"envoyExtAuthzGrpc" json:"envoyExtAuthzGrpc"`
	// Unreachable is no field of Istio: an authorizer that gives no answer.
	Unreachable bool `yaml:"unreachable" json:"unreachable,omitempty"`
}

// grpcProvider says where the authorizer is, and what becomes of a request that it gives no
// answer about. The lab has an authorizer of its own in its place.
type grpcProvider struct {
	Service       string `yaml:"service" json:"service"`
	Port          uint32 `yaml:"port" json:"port"`
	FailOpen      bool   `yaml:"failOpen" json:"failOpen"`
	StatusOnError string `yaml:"statusOnError" json:"statusOnError,omitempty"`
	Timeout       string `yaml:"timeout" json:"timeout,omitempty"`
}

// Authorizers returns the authorizers that the policies ask, each as the mesh config has it. Istio
// denies what a policy leaves to one that the mesh config does not have.
func Authorizers(ps []Policy, opts Options) (out []string) {
	for _, p := range ps {
		i := slices.IndexFunc(opts.Providers, func(of ExtensionProvider) bool {
			return p.resource.Spec.Provider != nil && of.Name == p.resource.Spec.Provider.Name
		})
		switch {
		case p.resource.Spec.Action != actionCustom || p.resource.Spec.Provider == nil:
			continue
		case i < 0:
			out = append(out, fmt.Sprintf("the provider %q, which the mesh config does not have", p.resource.Spec.Provider.Name))
			continue
		}
		// It has nothing that JSON cannot say.
		text, _ := json.Marshal(opts.Providers[i])
		out = append(out, string(text))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// providerName is what Istio takes for the name of a provider.
var providerName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)

// checkProviders refuses what Istio or Envoy would not take.
func (o Options) checkProviders(doc manifest.Document) error {
	known := map[string]bool{}
	for i, p := range o.Providers {
		at := item("istio.extensionProviders", i)
		switch {
		case !providerName.MatchString(p.Name):
			return doc.Errorf(at+".name", "%q is no name of a provider: use at most 63 lower case letters, digits and hyphens", p.Name)
		case known[p.Name]:
			return doc.Errorf(at+".name", "there are two providers %q", p.Name)
		case p.GRPC == nil:
			return doc.Errorf(at, "the provider %q is none that the lab plays: write envoyExtAuthzGrpc", p.Name)
		case p.GRPC.StatusOnError != "" && p.status() == 0:
			return doc.Errorf(at+".envoyExtAuthzGrpc.statusOnError", "%q is no status of an error: write 403 or 503, for example", p.GRPC.StatusOnError)
		}
		known[p.Name] = true
	}
	return nil
}

// status returns the status of a request that the authorizer gives no answer about, 0 for the
// default.
func (p ExtensionProvider) status() int {
	code, err := strconv.Atoi(p.GRPC.StatusOnError)
	if err != nil || !slices.Contains([]int{400, 401, 403, 404, 429, 500, 502, 503, 504}, code) {
		return 0
	}
	return code
}

// provider returns the authorizer of the name, and whether the mesh config has it.
func (o Options) provider(name string) (authorizer.Authorizer, bool) {
	for _, p := range o.Providers {
		if p.Name == name {
			return authorizer.Authorizer{Provider: name, Cluster: p.GRPC.cluster(), Authority: p.GRPC.host(), Timeout: p.GRPC.timeout(), FailOpen: p.GRPC.FailOpen, StatusOnError: p.status(), Unreachable: p.Unreachable}, true
		}
	}
	return authorizer.Authorizer{}, false
}

// cluster returns the name that Istio gives the cluster of the service (BuildSubsetKey in
// pilot/pkg/model/push_context.go). A namespace may stand in front of the service.
func (p grpcProvider) cluster() string {
	return fmt.Sprintf("outbound|%d||%s", p.Port, p.host())
}

// host returns the service without a namespace in front: Istio asks for it.
func (p grpcProvider) host() string { return p.Service[strings.LastIndex(p.Service, "/")+1:] }

// timeout returns how long Istio waits for an answer (defaultTimeout in
// pilot/pkg/security/authz/builder/extauthz.go), 0 for a text that is no time.
func (p grpcProvider) timeout() time.Duration {
	const byDefault = 600 * time.Second
	if p.Timeout == "" {
		return byDefault
	}
	d, _ := time.ParseDuration(p.Timeout)
	return d
}

// badProvider ends the name of a rule that denies because there is no authorizer to ask.
const badProvider = "-deny-due-to-bad-CUSTOM-action"

// customGates returns a gate for each provider that the policies name, in order. A gate denies
// what its rules match where the mesh config lacks the provider, or where a workload has
// several providers (pilot/pkg/security/authz/builder of Istio, getBadCustomDenyRules).
func customGates(sel Selection, in policy.Inbound, opts Options) []policy.Gate {
	gates := map[string]policy.Gate{}
	for _, p := range sel.Policies {
		if p.resource.Spec.Action != actionCustom {
			continue
		}
		name := p.resource.Spec.Provider.Name
		gate, ok := gates[name]
		if !ok {
			gate = policy.Gate{Layer: in.Protocol.Layer(), Form: policy.Named, Default: policy.Verdict{Effect: policy.Allow}}
		}
		gate.Rules = append(gate.Rules, p.lower(policy.Deny, in, opts)...)
		gates[name] = gate
	}
	var out []policy.Gate
	for _, name := range slices.Sorted(maps.Keys(gates)) {
		gate := gates[name]
		asked, known := opts.provider(name)
		known = known && len(gates) == 1
		if known {
			gate.Asks, gate.Refuses = &asked, refusal.Refused(asked, gate.Layer)
		}
		for i := range gate.Rules {
			rule := &gate.Rules[i]
			if known {
				rule.When = policy.And{rule.When, gate.Refuses}
			} else {
				rule.Origin += badProvider
			}
		}
		slices.SortStableFunc(gate.Rules, func(a, b policy.Rule) int { return strings.Compare(a.Origin, b.Origin) })
		out = append(out, gate)
	}
	return out
}

// lintCustom warns of an authorizer that the mesh config does not have, of several on one
// workload, and of a dry run behind one.
func (p Policy) lintCustom(ps []Policy, selected []policy.Inbound, opts Options) []policy.Warning {
	if p.observes {
		for _, in := range selected {
			for _, other := range Select(ps, in, opts).Policies {
				if other.resource.Spec.Action == actionCustom {
					return []policy.Warning{p.warn(warning.DryRunBehindAuthorizer, "metadata.annotations", "%s asks an authorizer about requests to %s first: the dry run says nothing of those that it refuses", fmt.Sprint(other), in)}
				}
			}
		}
	}
	if p.resource.Spec.Action != actionCustom {
		return nil
	}
	name := p.resource.Spec.Provider.Name
	if _, known := opts.provider(name); !known {
		return []policy.Warning{p.warn(warning.UnknownProvider, "spec.provider.name", "the mesh config has no authorizer %q: Istio denies what the rules match: name it under extensionProviders", name)}
	}
	for _, in := range selected {
		for _, other := range Select(ps, in, opts).Policies {
			if other.resource.Spec.Action == actionCustom && other.resource.Spec.Provider.Name != name {
				return []policy.Warning{p.warn(warning.SeveralProviders, "spec.provider.name", "%s asks another authorizer for %s: Istio denies what the rules of both match", fmt.Sprint(other), in)}
			}
		}
	}
	return nil
}
