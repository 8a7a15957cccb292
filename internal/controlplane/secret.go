package controlplane

import (
	"fmt"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"github.com/spiffe/go-spiffe/v2/bundle/x509bundle"

	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/internal/messages"
)

// Secret is a resource of SDS: an identity or a validation context.
type Secret struct {
	// Name is what listeners refer to.
	Name    string
	message *tlsv3.Secret
}

// IdentitySecret carries an SVID with its key. It exists in memory and on the
// mutually authenticated control channel only.
func IdentitySecret(name string, svid *certs.Credential) Secret {
	return Secret{Name: name, message: &tlsv3.Secret{
		Name: name,
		Type: &tlsv3.Secret_TlsCertificate{TlsCertificate: tlsCertificate(svid)},
	}}
}

// ValidationSecret carries a SPIFFE validator with one bundle per trust domain.
// A concatenated bundle would let one domain's CA forge the other's names.
func ValidationSecret(name string, bundles *x509bundle.Set) (Secret, error) {
	validation, err := spiffeValidation(bundles)
	if err != nil {
		return Secret{}, fmt.Errorf("xds: secret %s: %w", name, err)
	}
	return Secret{Name: name, message: &tlsv3.Secret{
		Name: name,
		Type: &tlsv3.Secret_ValidationContext{ValidationContext: validation},
	}}, nil
}

func tlsCertificate(svid *certs.Credential) *tlsv3.TlsCertificate {
	return &tlsv3.TlsCertificate{CertificateChain: inline(svid.ChainPEM()), PrivateKey: inline(svid.KeyPEM())}
}

func spiffeValidation(bundles *x509bundle.Set) (*tlsv3.CertificateValidationContext, error) {
	config := &tlsv3.SPIFFECertValidatorConfig{}
	for _, bundle := range bundles.Bundles() {
		pem, err := bundle.Marshal()
		if err != nil {
			return nil, err
		}
		config.TrustDomains = append(config.TrustDomains, &tlsv3.SPIFFECertValidatorConfig_TrustDomain{
			Name:        bundle.TrustDomain().Name(),
			TrustBundle: inline(pem),
		})
	}
	packed, err := messages.Pack(config)
	if err != nil {
		return nil, err
	}
	return &tlsv3.CertificateValidationContext{CustomValidatorConfig: &corev3.TypedExtensionConfig{
		Name:        "envoy.tls.cert_validator.spiffe",
		TypedConfig: packed,
	}}, nil
}

func inline(pem []byte) *corev3.DataSource {
	return &corev3.DataSource{Specifier: &corev3.DataSource_InlineBytes{InlineBytes: pem}}
}

func sds(name string) *tlsv3.SdsSecretConfig {
	return &tlsv3.SdsSecretConfig{Name: name, SdsConfig: ads()}
}

func ads() *corev3.ConfigSource {
	return &corev3.ConfigSource{
		ResourceApiVersion:    corev3.ApiVersion_V3,
		ConfigSourceSpecifier: &corev3.ConfigSource_Ads{Ads: &corev3.AggregatedConfigSource{}},
	}
}
