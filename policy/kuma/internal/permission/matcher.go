package permission

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/internal/condition"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Scheme is how every SPIFFE ID begins.
const Scheme = "spiffe://"

func parseMatcher(doc manifest.Document, field string, schema matcherSchema) (Matcher, error) {
	m := Matcher{Field: field}
	var err error
	switch {
	case schema.SPIFFEID != nil && schema.SPIFFEIDUpper != nil:
		return Matcher{}, doc.Errorf(field+".spiffeID", "must not be set beside spiffeId: they are two spellings of one field")
	case schema.SPIFFEID != nil:
		m.Identity, err = parseString(doc, field+".spiffeId", *schema.SPIFFEID, checkIdentity)
	case schema.SPIFFEIDUpper != nil:
		m.Identity, err = parseString(doc, field+".spiffeID", *schema.SPIFFEIDUpper, checkIdentity)
	}
	if err == nil && schema.SNI != nil {
		m.SNI, err = parseSNI(doc, field+".sni", *schema.SNI)
	}
	if err == nil && schema.Path != nil {
		m.Path, err = parseString(doc, field+".path", *schema.Path, checkPath)
	}
	if err == nil && schema.Method != nil {
		m.Method = *schema.Method
		if reason := checkMethod(m.Method); reason != nil {
			err = doc.Errorf(field+".method", "%v", reason)
		}
	}
	if err == nil && m.Identity == nil && m.SNI == "" && !m.NeedsL7() {
		err = doc.Errorf(field, "an empty matcher is not allowed: set spiffeId, sni, path or method")
	}
	if err != nil {
		return Matcher{}, err
	}
	m.OnConnection = condition.All(m.onConnection())
	m.When = condition.All(append(m.onConnection(), m.onRequest()...))
	return m, nil
}

func parseString(doc manifest.Document, field string, schema stringSchema, check func(policy.Match) error) (*policy.Match, error) {
	if schema.Type == nil {
		return nil, doc.Errorf(field+".type", "the type is missing: use Exact or Prefix")
	}
	if schema.Value == "" {
		return nil, doc.Errorf(field+".value", "the value is missing")
	}
	match := policy.Match{Kind: schema.Type.kind, Value: schema.Value}
	if err := check(match); err != nil {
		return nil, doc.Errorf(field+".value", "%v", err)
	}
	return &match, nil
}

// subdomain is a DNS subdomain of RFC 1123 in the form that Kubernetes demands.
var subdomain = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)

// longestSubdomain is the length of the longest name, in bytes.
const longestSubdomain = 253

// parseSNI takes what Kuma takes: a DNS subdomain in lower case. Envoy keeps the name of a
// caller in lower case too.
func parseSNI(doc manifest.Document, field string, schema sniSchema) (string, error) {
	switch {
	case schema.Type == nil:
		return "", doc.Errorf(field+".type", "the type is missing: use Exact")
	case schema.Value == "":
		return "", doc.Errorf(field+".value", "the value is missing")
	case len(schema.Value) > longestSubdomain:
		return "", doc.Errorf(field+".value", "a server name has no more than %d characters", longestSubdomain)
	case subdomain.MatchString(strings.ToLower(schema.Value)) && !subdomain.MatchString(schema.Value):
		return "", doc.Errorf(field+".value", "Envoy compares server names in lower case: write %q", strings.ToLower(schema.Value))
	case !subdomain.MatchString(schema.Value):
		return "", doc.Errorf(field+".value", "%q is no DNS name (RFC 1123): use letters in lower case, digits, - and ., with a letter or digit at each end", schema.Value)
	default:
		return schema.Value, nil
	}
}

// checkIdentity checks an Exact against the SPIFFE ID standard. A Prefix has to be the
// beginning of a SPIFFE ID: it may end inside the trust domain, inside a segment, or
// in one slash.
func checkIdentity(m policy.Match) error {
	if m.Kind == policy.Exact {
		if _, err := spiffeid.FromString(m.Value); err != nil {
			return fmt.Errorf("not a SPIFFE ID: %w: write one such as spiffe://trust-domain.mesh/ns/shop/sa/web", err)
		}
		return nil
	}
	beginning := m.Value
	if rest, ok := strings.CutPrefix(m.Value, Scheme); ok {
		rest = strings.TrimSuffix(rest, "/")
		if strings.HasSuffix(rest, "/") {
			return errors.New("not the beginning of a SPIFFE ID: path cannot contain empty segments")
		}
		beginning = Scheme + rest
	}
	if _, err := spiffeid.FromString(beginning); err != nil {
		return fmt.Errorf("not the beginning of a SPIFFE ID: %w", err)
	}
	return nil
}

// checkPath refuses a value that no path of a request can have. Paths are compared
// without their query, and a client never sends a fragment.
func checkPath(m policy.Match) error {
	switch {
	case m.Value[0] != '/':
		return fmt.Errorf("a path begins with /: write %q", "/"+m.Value)
	case strings.Contains(m.Value, "?"):
		return errors.New("a path is compared without its query: leave ? and what follows out")
	case strings.Contains(m.Value, "#"):
		return errors.New("a request has no fragment: leave # and what follows out")
	case strings.ContainsFunc(m.Value, func(r rune) bool { return r <= ' ' || r > '~' }):
		return errors.New("a path is printable ASCII: percent-encode the rest")
	}
	return nil
}

// checkMethod accepts the tokens of RFC 9110, section 5.6.2, without lower-case
// letters. Methods are case sensitive: Envoy answers "get" with a 400 on HTTP/1.1, and
// on HTTP/2 it is another method than GET.
func checkMethod(method string) error {
	if method == "" {
		return errors.New("the value is missing")
	}
	for _, c := range method {
		switch {
		case c >= 'a' && c <= 'z':
			return fmt.Errorf("methods are case sensitive: write %s instead of %s", strings.ToUpper(method), method)
		case c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("!#$%&'*+-.^_`|~", c):
		default:
			return fmt.Errorf("%q is not a method: %q is no token character", method, c)
		}
	}
	return nil
}

// onConnection returns what the matcher asks of a connection.
func (m *Matcher) onConnection() policy.And {
	var all policy.And
	if m.Identity != nil {
		all = append(all, policy.Is{Attribute: attribute.Identity, Match: *m.Identity})
	}
	if m.SNI != "" {
		all = append(all, attribute.SNI.Exact(m.SNI))
	}
	return all
}

// onRequest returns what the matcher asks beyond that.
func (m *Matcher) onRequest() policy.And {
	var all policy.And
	if m.Path != nil {
		all = append(all, pathCondition(*m.Path))
	}
	if m.Method != "" {
		all = append(all, attribute.Method.Exact(m.Method))
	}
	return all
}

// pathCondition compares a path. A Prefix of a path ends at a segment.
func pathCondition(m policy.Match) policy.Condition {
	if m.Kind == policy.Prefix {
		return attribute.Path.Segments(m.Value)
	}
	return attribute.Path.Exact(m.Value)
}
