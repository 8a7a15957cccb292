package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	listenerpb "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	meshconfig "istio.io/api/mesh/v1alpha1"
	security "istio.io/api/security/v1beta1"
	"istio.io/istio/pilot/pkg/config/memory"
	"istio.io/istio/pilot/pkg/features"
	"istio.io/istio/pilot/pkg/model"
	"istio.io/istio/pilot/pkg/networking/core"
	registry "istio.io/istio/pilot/pkg/serviceregistry/memory"
	"istio.io/istio/pkg/config"
	"istio.io/istio/pkg/config/host"
	"istio.io/istio/pkg/config/mesh"
	"istio.io/istio/pkg/config/mesh/meshwatcher"
	wire "istio.io/istio/pkg/config/protocol"
	"istio.io/istio/pkg/config/schema/collections"
	"istio.io/istio/pkg/jwt"
	"istio.io/istio/pkg/kube"
	"istio.io/istio/pkg/kube/krt"
	"istio.io/istio/pkg/util/protomarshal"
)

// istiod makes the listeners of a sidecar. It has no cluster, and no virtual services.
type istiod struct {
	virtualServices *model.VirtualServiceController
	generator       *core.ConfigGeneratorImpl
}

// newIstiod returns when istiod has learned that there are no virtual services.
func newIstiod() istiod {
	none := memory.NewController(memory.Make(collections.Pilot))
	updates := model.NewEndpointIndexUpdater(model.NewEndpointIndex(model.DisabledCache{}))
	out := istiod{
		virtualServices: model.NewVirtualServiceController(none, model.VSControllerOptions{KrtDebugger: krt.GlobalDebugHandler, XDSUpdater: updates}, meshwatcher.NewTestWatcher(mesh.DefaultMeshConfig())),
		generator:       core.NewConfigGenerator(model.DisabledCache{}),
	}
	forever := make(chan struct{})
	go none.Run(forever)
	go out.virtualServices.Run(forever)
	kube.WaitForCacheSync("virtual services", forever, out.virtualServices.HasSynced)
	// Keys that have a place of their own are named by it. Otherwise istiod would fetch them.
	features.JwksFetchMode = jwt.Envoy
	return out
}

// meshConfig is Istio's default with the options of a case.
func (o options) meshConfig() (*meshconfig.MeshConfig, error) {
	out := mesh.DefaultMeshConfig()
	out.RootNamespace = cmp.Or(o.Istio.RootNamespace, out.RootNamespace)
	out.TrustDomain = cmp.Or(o.Istio.TrustDomain, o.TrustDomain, out.TrustDomain)
	out.TrustDomainAliases = o.Istio.TrustDomainAliases
	if name := o.Istio.Normalization; name != "" {
		number, ok := meshconfig.MeshConfig_ProxyPathNormalization_NormalizationType_value[name]
		if !ok {
			return nil, fmt.Errorf("read normalization: Istio has no %q", name)
		}
		out.PathNormalization = &meshconfig.MeshConfig_ProxyPathNormalization{Normalization: meshconfig.MeshConfig_ProxyPathNormalization_NormalizationType(number)}
	}
	for _, provider := range o.Istio.ExtensionProviders {
		read := &meshconfig.MeshConfig_ExtensionProvider{}
		if err := protomarshal.ApplyJSON(string(provider), read); err != nil {
			return nil, fmt.Errorf("read an entry of extensionProviders: %w", err)
		}
		out.ExtensionProviders = append(out.ExtensionProviders, read)
	}
	return out, nil
}

// servicePort returns the port of the Service in front of an inbound, by the protocol of which istiod
// chooses the filters.
func (in inbound) servicePort() *model.Port {
	of := map[string]wire.Instance{"http": wire.HTTP, "http2": wire.HTTP2, "grpc": wire.GRPC, "tcp": wire.TCP}
	return &model.Port{Name: "inbound", Port: int(in.Port), Protocol: of[in.Protocol]}
}

// compile returns the filters that istiod sends to the sidecar of an inbound.
func (i istiod) compile(in inbound, policies []config.Config, opts options) (filters, error) {
	own, err := opts.meshConfig()
	if err != nil {
		return filters{}, err
	}
	store := memory.MakeSkipValidation(collections.Pilot)
	for _, one := range policies {
		if tokens, ok := one.Spec.(*security.RequestAuthentication); ok {
			one.Spec = withPlaces(tokens)
		}
		if _, err := store.Create(one); err != nil {
			return filters{}, fmt.Errorf("store %s/%s: %w", one.Namespace, one.Name, err)
		}
	}
	// The workload is behind a Service, and the services of all authorizers are there.
	service := &model.Service{
		Hostname: "inbound.invalid", DefaultAddress: "0.0.0.0", Ports: model.PortList{in.servicePort()},
		Attributes: model.ServiceAttributes{Name: "inbound", Namespace: in.Workload.Namespace},
	}
	services := []*model.Service{service}
	for _, provider := range own.ExtensionProviders {
		services = append(services, &model.Service{Hostname: host.Name(provider.GetEnvoyExtAuthzGrpc().GetService()), Attributes: model.ServiceAttributes{Namespace: "default"}})
	}
	env := model.NewEnvironment()
	env.Watcher, env.NetworksWatcher = meshwatcher.NewTestWatcher(own), meshwatcher.NewFixedNetworksWatcher(nil)
	env.ConfigStore, env.VirtualServiceController = store, i.virtualServices
	env.ServiceDiscovery = registry.NewServiceDiscovery(services...)
	env.Init()
	push := model.NewPushContext()
	push.InitContext(env, nil, nil)
	proxy := &model.Proxy{
		Type: model.SidecarProxy, ID: "inbound." + in.Workload.Namespace, ConfigNamespace: in.Workload.Namespace, Labels: in.Workload.Labels,
		Metadata:    &model.NodeMetadata{Namespace: in.Workload.Namespace, Labels: in.Workload.Labels},
		IPAddresses: []string{"192.0.2.1"}, DNSDomain: in.Workload.Namespace + ".svc.cluster.local", IstioVersion: model.MaxIstioVersion,
		ServiceTargets: []model.ServiceTarget{{Service: service, Port: model.ServiceInstancePort{ServicePort: service.Ports[0], TargetPort: in.Port}}},
	}
	proxy.DiscoverIPMode()
	proxy.SetSidecarScope(push)
	var chains []*listenerpb.FilterChain
	for _, l := range i.generator.BuildListeners(proxy, push) {
		if l.Name != model.VirtualInboundListenerName {
			continue
		}
		for _, chain := range l.FilterChains {
			if chain.GetFilterChainMatch().GetDestinationPort().GetValue() == in.Port {
				chains = append(chains, chain)
			}
		}
	}
	if len(chains) == 0 {
		return filters{}, errors.New("Istio has no filter chain for the port")
	}
	return readChains(chains)
}

// discovery is where istiod asks an issuer for the place of its keys.
const discovery = "/.well-known/openid-configuration"

// withPlaces names the place where istiod would look for the keys of an issuer that names none. No
// issuer is asked.
func withPlaces(of *security.RequestAuthentication) *security.RequestAuthentication {
	of = proto.CloneOf(of)
	for _, rule := range of.JwtRules {
		if rule.Jwks == "" && rule.JwksUri == "" {
			rule.JwksUri = strings.TrimSuffix(rule.Issuer, "/") + discovery
		}
	}
	return of
}

func printMessage(m proto.Message) (json.RawMessage, error) {
	return protojson.MarshalOptions{}.Marshal(m)
}
