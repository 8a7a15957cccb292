package evaluation

import (
	"net/netip"
	"strings"
	"unicode/utf8"

	"github.com/meshproof/meshproof/internal/claim"
	"github.com/meshproof/meshproof/internal/plainheader"
)

func (q question) method(value string) bool {
	return value == "*" || compare(value, q.r.Method)
}

// path compares the path without its query. A star alone is a regular expression of Istio.
func (q question) path(value string) bool {
	path := q.r.Path
	if i := strings.IndexByte(path, '?'); i >= 0 {
		path = path[:i]
	}
	if value == "*" {
		return path != "" && q.isPlain(path)
	}
	if strings.Contains(value, "{*}") || strings.Contains(value, "{**}") {
		return template(value, path)
	}
	return compare(value, path)
}

// template compares a path with segments. {*} stands for a segment that is not empty, {**} for any
// text, slashes included. Both stand for characters of a path only.
func template(value, path string) bool {
	literal, rest, found := strings.Cut(value, "{*")
	if !strings.HasPrefix(path, literal) {
		return false
	}
	path = path[len(literal):]
	if !found {
		return path == ""
	}
	least, slash := 1, false
	if behind, many := strings.CutPrefix(rest, "*}"); many {
		rest, least, slash = behind, 0, true
	} else {
		rest = strings.TrimPrefix(rest, "}")
	}
	for n := 0; ; n++ {
		if n >= least && template(rest, path[n:]) {
			return true
		}
		if n == len(path) || !strings.ContainsRune("-._~%!$&'()*+,;=:@", rune(path[n])) && !alphanumeric(path[n]) && !(slash && path[n] == '/') {
			return false
		}
	}
}

func alphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// host compares letters of both cases alike.
func (q question) host(value string) bool {
	return value == "*" || compare(lower(value), lower(q.r.Host))
}

func lower(text string) string {
	out := []byte(text)
	for i, c := range out {
		if c >= 'A' && c <= 'Z' {
			out[i] = c + 'a' - 'A'
		}
	}
	return string(out)
}

// serverName compares the server name of a caller that sends one.
func (q question) serverName(value string) bool {
	if q.r.SNI == "" {
		return false
	}
	return value == "*" && q.isPlain(q.r.SNI) || value != "*" && compare(value, q.r.SNI)
}

// header compares each line of a header by itself, or all as one text where Envoy joins them.
func (q question) header(name, value string) bool {
	for _, line := range plainheader.Lines(q.r, lower(name), q.r.JoinsLines) {
		if value == "*" || compare(value, line) {
			return true
		}
	}
	return false
}

func (q question) peer(value string) bool { return inBlock(value, q.r.Source) }

func (q question) isOwnAddress(value string) bool { return inBlock(value, q.r.Destination) }

func (q question) remote(value string) bool {
	if q.r.Remote.IsValid() && !q.tcp {
		return inBlock(value, q.r.Remote)
	}
	return inBlock(value, q.r.Source)
}

// inBlock compares the bits of an address with those of an address or a block.
func inBlock(value string, address netip.Addr) bool {
	text, bits := value, -1
	if i := strings.IndexByte(value, '/'); i >= 0 {
		text, bits = value[:i], 0
		for _, digit := range value[i+1:] {
			bits = bits*10 + int(digit-'0')
		}
	}
	first, err := netip.ParseAddr(text)
	if err != nil || !address.IsValid() || first.Is4() != address.Is4() {
		return false
	}
	a, b := first.AsSlice(), address.AsSlice()
	for i := range 8 * len(a) {
		if i == bits {
			break
		}
		if mask := byte(0x80) >> (i % 8); a[i/8]&mask != b[i/8]&mask {
			return false
		}
	}
	return true
}

// trustDomain looks at what stands between the scheme of a name and the next slash.
func (q question) trustDomain(value string) bool {
	domains := append([]string{q.opts.TrustDomain}, q.opts.TrustDomainAliases...)
	alike := []string{value}
	for _, domain := range domains {
		if domain == value {
			alike = domains
		}
	}
	return q.named(func(name string) bool {
		id, ok := strings.CutPrefix(name, "spiffe://")
		domain, _, whole := strings.Cut(id, "/")
		for _, value := range alike {
			switch {
			case value == "*" && ok:
				return true
			case strings.Contains(value, "*"):
				if ok && whole && q.isPlain(name) && compare(value, domain) {
					return true
				}
			case ok && whole && domain == value:
				return true
			}
		}
		return false
	})
}

// requestPrincipal compares issuer and subject, parted at the last slash. A star at the start
// leaves the subject as it stands, and one at the end the issuer. Without a slash the star
// belongs to the other end, and what the value does not speak of may be any.
func (q question) requestPrincipal(value string) bool {
	issuer, subject := q.r.Others["claim iss"], q.r.Others["claim sub"]
	if len(issuer) == 0 || len(subject) == 0 {
		return false
	}
	some := func(text string) bool { return text != "" && q.isPlain(text) }
	at := strings.LastIndexByte(value, '/')
	first, last := strings.TrimSuffix(value[:at+1], "/"), value[at+1:]
	switch {
	case value == "*":
		return some(issuer[0]) && some(subject[0])
	case value[0] == '*' && at < 0:
		return some(issuer[0]) && strings.HasSuffix(subject[0], value[1:])
	case first == "*":
		return some(issuer[0]) && subject[0] == last
	case value[0] == '*':
		return strings.HasSuffix(issuer[0], first[1:]) && subject[0] == last
	case last == "*" && at >= 0:
		return issuer[0] == first && some(subject[0])
	case value[len(value)-1] == '*' && at < 0:
		return strings.HasPrefix(issuer[0], value[:len(value)-1]) && some(subject[0])
	case value[len(value)-1] == '*':
		return issuer[0] == first && strings.HasPrefix(subject[0], last[:len(last)-1])
	case at < 0:
		return issuer[0] == value && subject[0] == ""
	default:
		return issuer[0] == first && subject[0] == last
	}
}

// claim compares a claim that is a text, and each text of a list.
func (q question) claim(value string, path ...string) bool {
	texts := q.r.Others["claim "+claim.Key(append(append([]string{}, path...), "[]")...)]
	if single := q.r.Others["claim "+claim.Key(path...)]; len(single) > 0 {
		texts = append(single[:1:1], texts...)
	}
	for _, text := range texts {
		if value == "*" && text != "" && q.isPlain(text) || value != "*" && compare(value, text) {
			return true
		}
	}
	return false
}

// port compares numbers: 0080 is 80.
func (q question) port(value string) bool {
	number := 0
	for _, digit := range value {
		number = number*10 + int(digit-'0')
	}
	return number != 0 && number == int(q.r.Port)
}

// compare compares a text with a value that may have a star at one end, and is no star alone.
func compare(value, text string) bool {
	switch n := len(value) - 1; {
	case value[0] == '*':
		return strings.HasSuffix(text, value[1:])
	case value[n] == '*':
		return strings.HasPrefix(text, value[:n])
	default:
		return text == value
	}
}

// isPlain reports whether a regular expression of dots matches the text: it has one line, and
// an Envoy that reads UTF-8 can read it.
func (q question) isPlain(text string) bool {
	return !strings.Contains(text, "\n") && (!q.r.UTF8 || utf8.ValidString(text))
}

// named reports whether one of the caller's names passes.
func (q question) named(passes func(name string) bool) bool {
	for _, names := range [][]string{q.r.URIs, q.r.DNS} {
		for _, name := range names {
			if passes(name) {
				return true
			}
		}
	}
	return false
}

// principal compares the caller with an identity without its scheme, and with the same
// identity in the other names of the mesh's trust domain.
func (q question) principal(value string) bool {
	for _, value := range q.aliases(value) {
		if q.named(func(name string) bool {
			if value == "*" {
				return name != "" && q.isPlain(name)
			}
			id, ok := strings.CutPrefix(name, "spiffe://")
			return ok && compare(value, id) && (value[0] != '*' || q.isPlain(name))
		}) {
			return true
		}
	}
	return false
}

// aliases returns the identity in each name of the mesh's trust domain, where it is of the
// form domain/ns/namespace/sa/account and the domain is one of those names.
func (q question) aliases(value string) []string {
	parts := strings.Split(value, "/")
	if len(parts) != 5 || parts[0] == "*" {
		return []string{value}
	}
	domains := append([]string{q.opts.TrustDomain}, q.opts.TrustDomainAliases...)
	known := parts[0] == "cluster.local"
	for _, domain := range domains {
		known = known || domain == parts[0] || domain == "*" || starred(domain, parts[0]) || starred(parts[0], domain)
	}
	if !known {
		return []string{value}
	}
	var out []string
	for _, domain := range domains {
		if parts[0] != "" && parts[0][0] == '*' && strings.HasSuffix(domain, parts[0][1:]) {
			out = append(out, value)
			continue
		}
		out = append(out, strings.Join(append([]string{domain}, parts[1:]...), "/"))
	}
	return out
}

// starred reports whether a pattern with a star at one end stands for the text.
func starred(pattern, text string) bool {
	if pattern == "" {
		return false
	}
	last := len(pattern) - 1
	return pattern[last] == '*' && strings.HasPrefix(text, pattern[:last]) || pattern[0] == '*' && strings.HasSuffix(text, pattern[1:])
}

// namespace looks for /ns/namespace/ in the caller's names, of any trust domain. A star stands
// for any text.
func (q question) namespace(value string) bool {
	return q.named(func(name string) bool {
		if !q.isPlain(name) {
			return false
		}
		rest := name
		for _, part := range strings.Split("/ns/"+value+"/", "*") {
			i := strings.Index(rest, part)
			if i < 0 {
				return false
			}
			rest = rest[i+len(part):]
		}
		return true
	})
}

// serviceAccount looks for spiffe://domain/ns/namespace/sa/account in the caller's names, of
// any trust domain. Other segments may stand before sa, and behind the account.
func (q question) serviceAccount(value, namespace string) bool {
	account := value
	if i := strings.IndexByte(value, '/'); i >= 0 {
		namespace, account = value[:i], value[i+1:]
	}
	space, own := "/ns/"+namespace+"/", "sa/"+account
	return q.named(func(name string) bool {
		id, ok := strings.CutPrefix(name, "spiffe://")
		if !ok || !q.isPlain(name) {
			return false
		}
		for i := 1; i < len(id); i++ {
			if !strings.HasPrefix(id[i:], space) {
				continue
			}
			rest := id[i+len(space):]
			for k := range rest {
				if !strings.HasPrefix(rest[k:], own) || k == 1 || k > 0 && rest[k-1] != '/' {
					continue
				}
				if behind := rest[k+len(own):]; behind == "" || behind[0] == '/' && len(behind) > 1 {
					return true
				}
			}
		}
		return false
	})
}
