package classes

import (
	"strings"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

var _ = add(row{
	attribute: attribute.DNSSAN,
	rank:      1,
	space:     func(Surface) space { return dnsSpace{plainSpace{attribute.DNSSAN}} },
	pattern:   bytesPattern,
	names:     true,
})

// dnsSpace is the space of the text that Envoy makes of all DNS SANs. Any text can be
// sent: the SPIFFE validator looks at the URI SAN in front only. A caller without a URI
// SAN has no DNS SAN either, see [canBeSent].
type dnsSpace struct{ plainSpace }

func (dnsSpace) name() string                        { return "DNS SANs" }
func (dnsSpace) read(r *policy.Request) string       { return strings.Join(r.DNS, ",") }
func (dnsSpace) put(r *policy.Request, value string) { r.DNS = splitNames(value) }

func (d dnsSpace) describe(p pattern) string {
	if p == (pattern{"", policy.Exact}) {
		return "no DNS SAN"
	}
	return strings.Replace(d.plainSpace.describe(p), d.plainSpace.name(), d.name(), 1)
}

// canBeSent reports whether an SVID can have the names of the caller. The SPIFFE
// validator refuses a certificate without a URI SAN.
func canBeSent(r *policy.Request) bool { return len(r.URIs) > 0 || len(r.DNS) == 0 }
