package main

import (
	"cmp"
	"encoding/json"
	"fmt"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	meshconfig "istio.io/api/mesh/v1alpha1"
	"istio.io/istio/pilot/pkg/config/memory"
	"istio.io/istio/pilot/pkg/model"
	"istio.io/istio/pilot/pkg/security/authz/builder"
	"istio.io/istio/pilot/pkg/security/trustdomain"
	"istio.io/istio/pkg/config"
	"istio.io/istio/pkg/config/mesh"
	"istio.io/istio/pkg/config/schema/collections"
)

// watcher gives istiod a mesh config that does not change.
type watcher struct {
	model.Watcher
	config *meshconfig.MeshConfig
}

func (w watcher) Mesh() *meshconfig.MeshConfig { return w.config }

// meshConfig is Istio's default with the options of a case.
func (o options) meshConfig() *meshconfig.MeshConfig {
	out := mesh.DefaultMeshConfig()
	out.RootNamespace = cmp.Or(o.Istio.RootNamespace, out.RootNamespace)
	out.TrustDomain = cmp.Or(o.Istio.TrustDomain, o.TrustDomain, out.TrustDomain)
	out.TrustDomainAliases = o.Istio.TrustDomainAliases
	return out
}

// compile returns the filters that istiod sends to the sidecar of an inbound.
func compile(in inbound, policies []config.Config, opts options) (filters, error) {
	own := opts.meshConfig()
	store := memory.Make(collections.Pilot)
	for _, one := range policies {
		if _, err := store.Create(one); err != nil {
			return filters{}, fmt.Errorf("store %s/%s: %w", one.Namespace, one.Name, err)
		}
	}
	push := &model.PushContext{
		Mesh:          own,
		AuthzPolicies: model.GetAuthorizationPolicies(&model.Environment{ConfigStore: store, Watcher: watcher{config: own}}),
	}
	proxy := &model.Proxy{
		Type: model.SidecarProxy, ConfigNamespace: in.Workload.Namespace, Labels: in.Workload.Labels,
		Metadata: &model.NodeMetadata{Namespace: in.Workload.Namespace, Labels: in.Workload.Labels},
	}
	selected := push.AuthzPolicies.ListAuthorizationPolicies(model.PolicyMatcherForProxy(proxy).WithRootNamespace(own.RootNamespace))
	made := builder.New(trustdomain.NewBundle(own.TrustDomain, own.TrustDomainAliases), push, selected, builder.Option{})
	var out filters
	if made == nil {
		return out, nil
	}
	var err error
	if in.Protocol == "tcp" {
		for _, filter := range made.BuildTCP() {
			if out.Network, err = appendRBAC(out.Network, filter.GetTypedConfig()); err != nil {
				return filters{}, err
			}
		}
		return out, nil
	}
	for _, filter := range made.BuildHTTP() {
		if out.HTTP, err = appendRBAC(out.HTTP, filter.GetTypedConfig()); err != nil {
			return filters{}, err
		}
	}
	return out, nil
}

func appendRBAC(to []json.RawMessage, packed *anypb.Any) ([]json.RawMessage, error) {
	message, err := packed.UnmarshalNew()
	if err != nil {
		return nil, fmt.Errorf("read a filter of Istio: %w", err)
	}
	text, err := printMessage(message)
	return append(to, text), err
}

func printMessage(m proto.Message) (json.RawMessage, error) {
	return protojson.MarshalOptions{}.Marshal(m)
}
