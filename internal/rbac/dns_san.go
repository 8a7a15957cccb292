package rbac

import (
	accesslogdatav3 "github.com/envoyproxy/go-control-plane/envoy/data/accesslog/v3"
	sslinputsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/common_inputs/ssl/v3"

	"github.com/meshproof/meshproof/policy/attribute"
)

// Of the principals, "authenticated" looks at DNS SANs and URI SANs alike, so that a
// named rule cannot ask for DNS SANs alone.
var _ = add(row{
	attribute: attribute.DNSSAN,
	since:     "1.36.4",
	input:     &sslinputsv3.DnsSanInput{},
	logged: func(common *accesslogdatav3.AccessLogCommon, _ *accesslogdatav3.HTTPRequestProperties) []string {
		var out []string
		for _, san := range common.GetTlsProperties().GetPeerCertificateProperties().GetSubjectAltName() {
			if dns := san.GetDns(); dns != "" {
				out = append(out, dns)
			}
		}
		return out
	},
})
