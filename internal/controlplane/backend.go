package controlplane

import (
	"fmt"
	"net/netip"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	internalupstreamv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/internal_upstream/v3"
	rawbufferv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/raw_buffer/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	metadatav3 "github.com/envoyproxy/go-control-plane/envoy/type/metadata/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/meshproof/meshproof/internal/messages"
	"github.com/meshproof/meshproof/policy"
)

// Backend is a cluster of a sidecar with its endpoints.
type Backend struct {
	// Config has the name and the bounds.
	Config   *clusterv3.Cluster
	Protocol policy.Protocol
	// Identity and Validation are the names of the secrets with the SVID of the sidecar and
	// with the trust bundles. Without Identity the sidecar speaks plaintext.
	Identity, Validation string
	// Accept are the SPIFFE IDs that an endpoint may show.
	Accept []string
	// Relay is the name of the relay that leads to the inbounds.
	Relay    string
	Inbounds []Endpoint
	// Ports are host:port as Envoy reaches them, of endpoints that are no inbounds.
	Ports []string
}

// Endpoint is an inbound as an endpoint of a cluster.
type Endpoint struct {
	// Name is shown in the log of the outbound.
	Name        string
	Destination netip.AddrPort
}

// cluster returns the message. An inbound stands behind an internal address: its metadata has
// the destination that the relay plays, and Envoy passes it on beside the TLS stream.
func (b Backend) cluster() (*clusterv3.Cluster, error) {
	out := proto.CloneOf(b.Config)
	out.DnsLookupFamily = clusterv3.Cluster_V4_ONLY
	lb := &endpointv3.LocalityLbEndpoints{}
	for _, e := range b.Inbounds {
		lb.LbEndpoints = append(lb.LbEndpoints, &endpointv3.LbEndpoint{
			HostIdentifier: &endpointv3.LbEndpoint_Endpoint{Endpoint: &endpointv3.Endpoint{Address: &corev3.Address{
				Address: &corev3.Address_EnvoyInternalAddress{EnvoyInternalAddress: &corev3.EnvoyInternalAddress{
					AddressNameSpecifier: &corev3.EnvoyInternalAddress_ServerListenerName{ServerListenerName: b.Relay},
					EndpointId:           e.Name,
				}},
			}}},
			Metadata: &corev3.Metadata{FilterMetadata: map[string]*structpb.Struct{
				originalDestination: {Fields: map[string]*structpb.Value{"local": structpb.NewStringValue(e.Destination.String())}},
			}},
		})
	}
	for _, port := range b.Ports {
		static, err := staticCluster(out.Name, port)
		if err != nil {
			return nil, err
		}
		out.ClusterDiscoveryType = static.ClusterDiscoveryType
		lb.LbEndpoints = append(lb.LbEndpoints, static.LoadAssignment.Endpoints[0].LbEndpoints...)
	}
	out.LoadAssignment = &endpointv3.ClusterLoadAssignment{ClusterName: out.Name, Endpoints: []*endpointv3.LocalityLbEndpoints{lb}}
	inner, err := b.transport()
	if err != nil {
		return nil, err
	}
	if out.TransportSocket = inner; len(b.Inbounds) > 0 {
		through, err := messages.Pack(&internalupstreamv3.InternalUpstreamTransport{
			PassthroughMetadata: []*internalupstreamv3.InternalUpstreamTransport_MetadataValueSource{{
				Kind: &metadatav3.MetadataKind{Kind: &metadatav3.MetadataKind_Host_{Host: &metadatav3.MetadataKind_Host{}}},
				Name: originalDestination,
			}},
			TransportSocket: inner,
		})
		if err != nil {
			return nil, err
		}
		out.TransportSocket = transportSocket("envoy.transport_sockets.internal_upstream", through)
	}
	if err := messages.Validate(out); err != nil {
		return nil, fmt.Errorf("xds: cluster %s: %w", out.Name, err)
	}
	return out, nil
}

// transport shows the SVID of the sidecar, and accepts the identities of the endpoints only.
func (b Backend) transport() (*corev3.TransportSocket, error) {
	if b.Identity == "" {
		return rawBuffer(), nil
	}
	common := &tlsv3.CommonTlsContext{
		// As a client Envoy offers TLS 1.2 at most unless it is told.
		TlsParams: &tlsv3.TlsParameters{
			TlsMinimumProtocolVersion: tlsv3.TlsParameters_TLSv1_3,
			TlsMaximumProtocolVersion: tlsv3.TlsParameters_TLSv1_3,
		},
		AlpnProtocols:                  alpn[b.Protocol],
		TlsCertificateSdsSecretConfigs: []*tlsv3.SdsSecretConfig{sds(b.Identity)},
	}
	accept := &tlsv3.CertificateValidationContext{}
	for _, id := range b.Accept {
		accept.MatchTypedSubjectAltNames = append(accept.MatchTypedSubjectAltNames, &tlsv3.SubjectAltNameMatcher{
			SanType: tlsv3.SubjectAltNameMatcher_URI,
			Matcher: &matcherv3.StringMatcher{MatchPattern: &matcherv3.StringMatcher_Exact{Exact: id}},
		})
	}
	common.ValidationContextType = &tlsv3.CommonTlsContext_CombinedValidationContext{CombinedValidationContext: &tlsv3.CommonTlsContext_CombinedCertificateValidationContext{
		DefaultValidationContext:         accept,
		ValidationContextSdsSecretConfig: sds(b.Validation),
	}}
	tls, err := messages.Pack(&tlsv3.UpstreamTlsContext{CommonTlsContext: common})
	if err != nil {
		return nil, err
	}
	return transportSocket("envoy.transport_sockets.tls", tls), nil
}

func rawBuffer() *corev3.TransportSocket {
	return transportSocket("envoy.transport_sockets.raw_buffer", messages.MustPack(&rawbufferv3.RawBuffer{}))
}

// secretsOf returns the names of the secrets that the backends ask for.
func secretsOf(backends []Backend) map[string]bool {
	out := map[string]bool{}
	for _, b := range backends {
		if b.Identity != "" {
			out[b.Identity], out[b.Validation] = true, true
		}
	}
	return out
}
