package evaluation

import (
	"strings"
	"unicode/utf8"
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
		return path != "" && q.plain(path)
	}
	return compare(value, path)
}

// port compares numbers: 0080 is 80.
func (q question) port(value string) bool {
	number := 0
	for _, digit := range value {
		number = number*10 + int(digit-'0')
	}
	return number == int(q.in.Port)
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

// plain reports whether a regular expression of dots matches the text: it has one line, and
// an Envoy that reads UTF-8 can read it.
func (q question) plain(text string) bool {
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
				return name != "" && q.plain(name)
			}
			id, ok := strings.CutPrefix(name, "spiffe://")
			return ok && compare(value, id) && (value[0] != '*' || q.plain(name))
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
		if !q.plain(name) {
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
		if !ok || !q.plain(name) {
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
