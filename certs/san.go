package certs

import (
	"crypto/x509/pkix"
	"encoding/asn1"
	"fmt"
)

// oidSubjectAltName and the tags of a GeneralName are those of RFC 5280, section 4.2.1.6.
var oidSubjectAltName = asn1.ObjectIdentifier{2, 5, 29, 17}

const (
	tagDNSName = 2
	tagURI     = 6
)

// sanExtension returns the subjectAltName extension with the names exactly as given, or nothing when there is no
// name. It stands in for the fields of [x509.Certificate], which take URIs only as url.URL and re-encode them.
// The extension is critical because the subject of a leaf is empty.
func sanExtension(uris, dns []string) ([]pkix.Extension, error) {
	if len(uris)+len(dns) == 0 {
		return nil, nil
	}
	names := make([]asn1.RawValue, 0, len(uris)+len(dns))
	for _, uri := range uris {
		names = append(names, asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: tagURI, Bytes: []byte(uri)})
	}
	for _, name := range dns {
		names = append(names, asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: tagDNSName, Bytes: []byte(name)})
	}
	value, err := asn1.Marshal(names)
	if err != nil {
		return nil, fmt.Errorf("encode the SANs: %w", err)
	}
	return []pkix.Extension{{Id: oidSubjectAltName, Critical: true, Value: value}}, nil
}
