package classes

import (
	"net/url"
	"slices"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

var _ = add(row{attribute: attribute.URISAN, pattern: bytesPattern, perName: true, names: true})

// nameSpace is the space of a single name, where a caller is a set of names. Any text
// is a name: the SPIFFE validator looks at the URI SAN in front only. Measured on Envoy,
// a URI SAN of another trust domain, or that is no SPIFFE ID, passes, and so does a
// SAN that is not of ASCII or is empty, against RFC 5280, section 4.2.1.6.
type nameSpace struct{ *callerSpace }

// firstSpace is the space of the URI SAN in front. The SPIFFE validator takes the trust
// domain from it, and refuses certificates without one.
type firstSpace struct{ nameSpace }

func (nameSpace) key(value string) string                  { return value }
func (nameSpace) value(key string) string                  { return key }
func (d nameSpace) complete(prefix string, n int) []string { return d.completeName(prefix, n) }

func (nameSpace) describe(p pattern) string {
	switch {
	case p.text == "" && p.kind == policy.Exact:
		return `""`
	case p.text == "":
		return "any name"
	case p.kind == policy.Exact:
		return p.text
	default:
		return p.text + "…"
	}
}

// nameChars are the characters that can follow any other in a name.
const nameChars = pathChars + "\"#%<>?[]\\^`{|}"

func (nameSpace) alphabet() string  { return nameChars }
func (firstSpace) alphabet() string { return unreservedChars[:len(unreservedChars)-1] + "/" }

func (nameSpace) sound(string) error { return nil }

func (d firstSpace) sound(name string) error { return d.soundID(name) }

// isURI tells which kind of SAN a name is most naturally.
func isURI(name string) bool {
	u, err := url.Parse(name)
	return err == nil && u.Scheme != ""
}

// addName adds a name to a caller, as the kind of SAN that it most naturally is.
func addName(r *policy.Request, name string) {
	if isURI(name) {
		r.URIs = append(slices.Clip(r.URIs), name)
	} else {
		r.DNS = append(slices.Clip(r.DNS), name)
	}
}
