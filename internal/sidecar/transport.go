package sidecar

import (
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/meshproof/meshproof/internal/messages"
)

// transport reads what the chain demands of a connection.
func (c *chain) transport(of *listenerv3.FilterChain) Transport {
	for _, reason := range deprecated(of.ProtoReflect()) {
		c.tell(Beside, "", "", reason)
	}
	packed := of.GetTransportSocket().GetTypedConfig()
	switch messages.Name(packed.GetTypeUrl()) {
	case "", rawBuffer:
		if of.GetTransportSocket() != nil && packed == nil {
			c.tell(Beside, of.TransportSocket.Name, "", "the transport socket has no configuration")
			return OtherTransport
		}
		return Plaintext
	}
	m, _, err := messages.Unpack(packed)
	context, ok := m.(*tlsv3.DownstreamTlsContext)
	if err != nil || !ok {
		c.tell(Beside, of.TransportSocket.Name, packed.TypeUrl, "a transport socket that is not TLS")
		return OtherTransport
	}
	if !context.GetRequireClientCertificate().GetValue() {
		return TLS
	}
	if why := unverified(context.GetCommonTlsContext()); why != "" {
		c.tell(Beside, of.TransportSocket.Name, packed.TypeUrl, why)
		return TLS
	}
	return MutualTLS
}

// unverified says why a demanded client certificate proves nothing.
func unverified(common *tlsv3.CommonTlsContext) string {
	var validation *tlsv3.CertificateValidationContext
	switch of := common.GetValidationContextType().(type) {
	case nil:
		return "client certificates are demanded, but there is nothing to verify them by"
	case *tlsv3.CommonTlsContext_ValidationContext:
		validation = of.ValidationContext
	case *tlsv3.CommonTlsContext_CombinedValidationContext:
		validation = of.CombinedValidationContext.GetDefaultValidationContext()
	}
	if validation.GetTrustChainVerification() == tlsv3.CertificateValidationContext_ACCEPT_UNTRUSTED {
		return "client certificates that nobody vouches for are accepted (ACCEPT_UNTRUSTED)"
	}
	return ""
}
