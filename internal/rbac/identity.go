package rbac

import (
	accesslogdatav3 "github.com/envoyproxy/go-control-plane/envoy/data/accesslog/v3"
	sslinputsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/common_inputs/ssl/v3"

	"github.com/meshproof/meshproof/policy/attribute"
)

var uriSANInput = inputOf(&sslinputsv3.UriSanInput{})

var _ = add(row{
	attribute: attribute.Identity,
	since:     "1.36.4",
	input:     &sslinputsv3.UriSanInput{},
	logged:    loggedURIs,
})

// loggedURIs are the URI SANs of the peer's certificate. The access log reports them
// for a failed handshake too.
func loggedURIs(common *accesslogdatav3.AccessLogCommon, _ *accesslogdatav3.HTTPRequestProperties) []string {
	var out []string
	for _, san := range common.GetTlsProperties().GetPeerCertificateProperties().GetSubjectAltName() {
		if uri := san.GetUri(); uri != "" {
			out = append(out, uri)
		}
	}
	return out
}
