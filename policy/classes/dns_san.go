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
	pattern:   func(m policy.Match) pattern { return pattern{text: nameMark + m.Value, kind: m.Kind} },
	names:     true,
})

// dnsSpace is the space of the text that Envoy makes of all DNS SANs. Any text can be
// sent: the SPIFFE validator looks at the URI SAN in front only. A caller without a URI
// SAN has no DNS SAN either, see [namesCanBeSent]. The empty value is a caller without any
// DNS SAN. The mark in front of the others keeps it out of every pattern.
type dnsSpace struct{ plainSpace }

func (dnsSpace) read(r *policy.Request) string       { return strings.Join(r.DNS, ",") }
func (dnsSpace) put(r *policy.Request, value string) { r.DNS = splitNames(value) }

func (dnsSpace) clear(r *policy.Request) { r.DNS = nil }

func (dnsSpace) value(key string) string { return strings.TrimPrefix(key, nameMark) }

func (dnsSpace) key(value string) string {
	if value == "" {
		return ""
	}
	return nameMark + value
}

func (d dnsSpace) complete(prefix string, n int) []string {
	return d.plainSpace.complete(d.value(prefix), n)
}

func (d dnsSpace) neighbours(p pattern, witness string) []variant {
	return d.plainSpace.neighbours(pattern{text: d.value(p.text), kind: p.kind}, witness)
}

func (d dnsSpace) describe(p pattern) string {
	if p.kind == policy.Exact {
		return d.name() + " " + d.value(p.text)
	}
	return d.name() + " " + d.value(p.text) + "…"
}

// sendable implements [sender].
func (dnsSpace) sendable() (natural, all string, without []string) {
	return `[a-z][a-z0-9-]*(\.[a-z][a-z0-9-]*)*`, `[!-~]+`, nil
}

// namesCanBeSent reports whether an SVID can have the names of the caller. The SPIFFE
// validator refuses a certificate without a URI SAN.
func namesCanBeSent(r *policy.Request) bool { return len(r.URIs) > 0 || len(r.DNS) == 0 }

// canBeSent reports whether an SVID can have the names of the caller, and a token the claims.
func (c *Cover) canBeSent(r *policy.Request) bool { return namesCanBeSent(r) && c.claimsCanBeSent(r) }
