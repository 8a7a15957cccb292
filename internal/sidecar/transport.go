package sidecar

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"github.com/spiffe/go-spiffe/v2/spiffeid"
	"google.golang.org/protobuf/proto"

	"github.com/meshproof/meshproof/internal/dump"
	"github.com/meshproof/meshproof/internal/messages"
)

// transport reads what the chain demands of a connection. It tells everything for which a
// caller may have an identity that no CA of the mesh gave it.
func (c *chain) transport(of *listenerv3.FilterChain) Transport {
	packed := of.GetTransportSocket().GetTypedConfig()
	name := of.GetTransportSocket().GetName()
	switch messages.Name(packed.GetTypeUrl()) {
	case "", rawBuffer:
		if of.GetTransportSocket() != nil && packed == nil {
			c.tell(dump.Exposed, name, "", "the transport socket has no configuration")
			return OtherTransport
		}
		return Plaintext
	}
	m, faults, err := messages.Unpack(packed)
	context, ok := m.(*tlsv3.DownstreamTlsContext)
	if err != nil || !ok {
		c.tell(dump.Exposed, name, packed.TypeUrl, "a transport socket that is not TLS")
		return OtherTransport
	}
	c.tellFaults(name, faults)
	if !context.GetRequireClientCertificate().GetValue() {
		return TLS
	}
	tell := func(idle bool) func(at *messages.Path, reason string) {
		return func(at *messages.Path, reason string) {
			u := c.unknown(dump.Exposed, name, reason)
			u.Type, u.Path, u.Idle = packed.TypeUrl, at.String(), idle
			c.found.add(u)
		}
	}
	// What is not known may run code.
	checkContext(context, tell(false))
	c.unproven(context, tell(true), tell(false))
	return MutualTLS
}

// bundleNames are the secrets that control planes use for the CAs of their mesh: of
// Kuma with and without MeshIdentity, and of Istio. A name that ends in a colon is a prefix.
var bundleNames = []string{"system_trust_bundle", kumaBundle, istioBundle}

// istioBundle is the name of the CAs of an Istio mesh.
const istioBundle = "ROOTCA"

// kumaBundle begins the name of the CAs of a Kuma mesh without MeshIdentity. The mesh's name
// follows, which is its trust domain too.
const kumaBundle = "mesh_ca:secret:"

func namesBundle(secret string) bool {
	return slices.ContainsFunc(bundleNames, func(name string) bool {
		return secret == name || strings.HasSuffix(name, ":") && strings.HasPrefix(secret, name)
	})
}

// isControlPlane reports whether secrets come from the control plane: over ADS, or from Istio's
// agent in the pod, by a socket of its own (security.SDS of pilot/pkg/security/model).
func (r *reader) isControlPlane(source *corev3.ConfigSource) bool {
	if source.GetAds() != nil {
		return true
	}
	const agent = "sds-grpc"
	return askedFor(source) == agent && r.hasSocketsOfOthers(agent)
}

// askedFor returns the cluster of the one server that a source asks over gRPC; "" for another source.
func askedFor(source *corev3.ConfigSource) string {
	of := source.GetApiConfigSource()
	if of.GetApiType() != corev3.ApiConfigSource_GRPC || len(of.GetGrpcServices()) != 1 {
		return ""
	}
	return of.GrpcServices[0].GetEnvoyGrpc().GetClusterName()
}

// Where a MeshIdentity of Kuma has the provider Spire, the agent of SPIRE gives the CAs, by a socket of its own and under one name, with
// those of all trust domains with which it is federated (pkg/core/resources/apis/meshidentity/providers/spire).
const (
	spireAgent  = "system_identity_sds-spire-agent"
	spireBundle = "ALL"
)

// givesBundle reports whether a secret is one that a control plane uses for the CAs of its mesh.
func (r *reader) givesBundle(secret *tlsv3.SdsSecretConfig) bool {
	if askedFor(secret.GetSdsConfig()) == spireAgent {
		return secret.GetName() == spireBundle && r.hasSocketsOfOthers(spireAgent)
	}
	return r.isControlPlane(secret.GetSdsConfig()) && namesBundle(secret.GetName())
}

// hasSocketsOfOthers reports whether a cluster leads to sockets in the file system alone, and to none of this Envoy itself: a listener
// would send on to anywhere what comes to it.
func (r *reader) hasSocketsOfOthers(name string) bool {
	sockets := r.socketsOf(name)
	return len(sockets) > 0 && !r.itself.hasSocket(func(own string) bool {
		return slices.ContainsFunc(sockets, func(socket string) bool { return nameSocket(socket) == own })
	})
}

// unproven tells why a demanded client certificate does not prove an identity of the mesh.
// The CAs have to come from the control plane, and either a SPIFFE validator or SAN
// matchers have to bind them to trust domains. Unknown tells what of the secret is not known.
func (c *chain) unproven(of *tlsv3.DownstreamTlsContext, tell, unknown func(at *messages.Path, reason string)) {
	common := of.GetCommonTlsContext()
	at := (*messages.Path)(nil).Field("common_tls_context")
	var context *tlsv3.CertificateValidationContext
	secret := common.GetValidationContextSdsSecretConfig()
	switch of := common.GetValidationContextType().(type) {
	case *tlsv3.CommonTlsContext_ValidationContext:
		at, context = at.Field("validation_context"), of.ValidationContext
	case *tlsv3.CommonTlsContext_CombinedValidationContext:
		at = at.Field("combined_validation_context")
		context, secret = of.CombinedValidationContext.GetDefaultValidationContext(), of.CombinedValidationContext.GetValidationContextSdsSecretConfig()
	}
	if secret == nil {
		if context.GetTrustedCa() == nil && context.GetCustomValidatorConfig() == nil {
			tell(at, "client certificates are demanded, but there is nothing to verify them by")
		} else {
			tell(at, "the CAs stand in the listener: nothing tells whether they are the control plane's")
		}
		return
	}
	if !c.givesBundle(secret) {
		tell(at.Field("validation_context_sds_secret_config"), fmt.Sprintf("no control plane that meshproof knows gives the CAs of its mesh in secret %q", secret.Name))
	}
	if context.GetTrustedCa() != nil || context.GetCustomValidatorConfig() != nil {
		tell(at, "CAs stand in the listener beside those of the control plane")
	}
	delivered, ok := c.Validations[secret.Name]
	if !ok && c.IsDump {
		tell(at, fmt.Sprintf("secret %q, with the CAs, is not in the dump: take the whole answer to /config_dump", secret.Name))
	}
	if ok {
		for _, fault := range delivered.Faults {
			tell(at, fmt.Sprintf("secret %q: %s", secret.Name, fault.What))
		}
		checkTLS(delivered.Message.ProtoReflect(), (*messages.Path)(nil).Field("secret").Key(secret.Name), unknown)
		switch ca := delivered.Message.GetTrustedCa(); {
		case ca == nil && delivered.Message.GetCustomValidatorConfig() == nil:
			tell(at, fmt.Sprintf("secret %q has nothing to verify client certificates by", secret.Name))
		case ca != nil && !holdsCAs(ca) && (!isEmpty(ca) || delivered.Message.GetCustomValidatorConfig() == nil):
			tell(at, fmt.Sprintf("secret %q has no CAs in itself: a dump does not show those of a file or a variable", secret.Name))
		}
		merged := proto.CloneOf(delivered.Message)
		if context != nil {
			merged = proto.CloneOf(context)
			proto.Merge(merged, delivered.Message)
		}
		context = merged
	}
	if mesh, ok := strings.CutPrefix(secret.Name, kumaBundle); ok {
		for _, domain := range domainsOf(context, secret.Name) {
			if domain != mesh {
				tell(at, fmt.Sprintf("secret %q has the CAs of another mesh than the mesh of the trust domain %q", secret.Name, domain))
			}
		}
	}
	if custom := context.GetCustomValidatorConfig(); custom != nil {
		for _, domain := range spiffeOf(custom).GetTrustDomains() {
			c.inbound.TrustDomains = append(c.inbound.TrustDomains, domain.Name)
		}
	}
	c.inbound.SharedDomains = unbound(context, secret.Name, at, tell)
}

// domainsOf returns the trust domains that a certificate may be of, by its names and by its CAs. One is empty where a matcher
// names none.
func domainsOf(context *tlsv3.CertificateValidationContext, secret string) (out []string) {
	for _, san := range sansOf(context, secret) {
		out = append(out, trustDomainOf(san))
	}
	for _, domain := range spiffeOf(context.GetCustomValidatorConfig()).GetTrustDomains() {
		out = append(out, domain.Name)
	}
	return out
}

// longestSession is how long Envoy resumes a session of TLS 1.2 unless session_timeout says otherwise (SSL_DEFAULT_SESSION_TIMEOUT
// of BoringSSL, which has a longer limit of its own for TLS 1.3). It holds no certificate against the time then.
const longestSession = 2 * time.Hour

// checkContext tells what of a TLS context is not known to prove an identity.
func checkContext(of *tlsv3.DownstreamTlsContext, tell func(at *messages.Path, reason string)) {
	checkTLS(of.ProtoReflect(), nil, tell)
	if session := of.GetSessionTimeout().AsDuration(); session > longestSession {
		tell((*messages.Path)(nil).Field("session_timeout"), fmt.Sprintf("a session is resumed for %s, also where the certificate has expired: let session_timeout be at most %s, Envoy's default", session, longestSession))
	}
}

// holdsCAs reports whether a source of CAs has their text.
func holdsCAs(source *corev3.DataSource) bool {
	return len(source.GetInlineString())+len(source.GetInlineBytes()) > 0
}

// isEmpty reports whether a source of CAs has no text and names no place. SPIRE writes such a one beside its validator.
func isEmpty(source *corev3.DataSource) bool {
	return !holdsCAs(source) && source.GetFilename() == "" && source.GetEnvironmentVariable() == "" && source.GetWatchedDirectory() == nil
}

// unbound tells where CAs are not bound to trust domains, so that one CA could give the names
// of another. It returns the trust domains to which one list of CAs is bound.
func unbound(context *tlsv3.CertificateValidationContext, secret string, at *messages.Path, tell func(at *messages.Path, reason string)) (shared []string) {
	sans := sansOf(context, secret)
	if custom := context.GetCustomValidatorConfig(); custom != nil {
		validator := spiffeOf(custom)
		if validator == nil {
			tell(at.Field("custom_validator_config"), fmt.Sprintf("Envoy chooses the validator of certificates by its name, and %q with this configuration is not the SPIFFE validator", custom.GetName()))
			return nil
		}
		if len(validator.TrustDomains) == 0 {
			tell(at, "the SPIFFE validator has no trust domain")
		}
		for _, domain := range validator.TrustDomains {
			if _, err := spiffeid.TrustDomainFromString(domain.Name); err != nil || !holdsCAs(domain.GetTrustBundle()) {
				tell(at, fmt.Sprintf("the SPIFFE validator has no bundle for the trust domain %q", domain.Name))
			}
		}
		if len(sans) == 0 {
			return nil
		}
	}
	if len(sans) == 0 {
		tell(at, "no match_typed_subject_alt_names: a certificate without a SPIFFE ID is accepted")
	}
	domains := map[string]bool{}
	for i, san := range sans {
		domain := trustDomainOf(san)
		if domain == "" {
			tell(at.Field("match_typed_subject_alt_names").Index(i), "it accepts more than the SPIFFE IDs of one trust domain")
		}
		domains[domain] = true
	}
	// What accepts more than one is told.
	delete(domains, "")
	if context.GetTrustedCa() == nil || context.GetCustomValidatorConfig() != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(domains))
}

// spiffeName is the name by which Envoy finds the SPIFFE validator. The type of the configuration finds none: the
// default validator takes any configuration, looks at no part of it, and without CAs of its own it takes certificates
// that callers signed themselves.
const spiffeName = "envoy.tls.cert_validator.spiffe"

// spiffeOf returns the configuration of a SPIFFE validator; nil for another validator.
func spiffeOf(custom *corev3.TypedExtensionConfig) *tlsv3.SPIFFECertValidatorConfig {
	m, _, _ := messages.Unpack(custom.GetTypedConfig())
	validator, _ := m.(*tlsv3.SPIFFECertValidatorConfig)
	if custom.GetName() != spiffeName {
		return nil
	}
	return validator
}

// sansOf returns the matchers that Envoy holds a certificate against. Those without a type stand for a matcher of each
// type, and count where there are no others. Istio writes such matchers, and its CAs give no name of SPIFFE but as a URI.
func sansOf(context *tlsv3.CertificateValidationContext, secret string) []*tlsv3.SubjectAltNameMatcher {
	out := context.GetMatchTypedSubjectAltNames()
	if len(out) > 0 || secret != istioBundle {
		return out
	}
	//lint:ignore SA1019 Envoy reads it still, and Istio writes it
	for _, matcher := range context.GetMatchSubjectAltNames() {
		out = append(out, &tlsv3.SubjectAltNameMatcher{SanType: tlsv3.SubjectAltNameMatcher_URI, Matcher: matcher})
	}
	return out
}

// trustDomainOf returns the trust domain of a SAN matcher that accepts nothing but URIs of
// one; "" for other matchers.
func trustDomainOf(san *tlsv3.SubjectAltNameMatcher) string {
	begin := san.GetMatcher().GetPrefix() + san.GetMatcher().GetExact()
	rest, ok := strings.CutPrefix(begin, "spiffe://")
	domain, _, slash := strings.Cut(rest, "/")
	_, err := spiffeid.TrustDomainFromString(domain)
	if san.SanType != tlsv3.SubjectAltNameMatcher_URI || san.Oid != "" || san.GetMatcher().GetIgnoreCase() || !ok || !slash || err != nil {
		return ""
	}
	return domain
}
