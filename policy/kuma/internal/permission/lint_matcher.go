package permission

import (
	"strings"

	"github.com/meshproof/meshproof/policy"
)

// lintPrefix warns of an identity prefix that breaks off inside a name: prefixes
// compare bytes, so it reaches every name that begins alike.
func (p *Policy) lintPrefix(l list, m matcher) []policy.Warning {
	if m.identity == nil || m.identity.Kind != policy.Prefix || strings.HasSuffix(m.identity.Value, "/") {
		return nil
	}
	value, verb := m.identity.Value, "admits"
	if l == deny {
		verb = "denies"
	}
	if !strings.Contains(value[len(scheme):], "/") {
		return []policy.Warning{p.warn(m.field, "prefix %s breaks off inside a trust domain: it also %s the trust domain %s-evil; write %s/", value, verb, value, value)}
	}
	return []policy.Warning{p.warn(m.field, "prefix %s does not end in a slash: it also %s %s-evil/...; write %s/, or Exact for one identity", value, verb, value, value)}
}

// lintPath warns of a path that is compared with nothing like it, because the
// listener rewrites or refuses such requests first.
func (p *Policy) lintPath(m matcher) []policy.Warning {
	if m.path == nil {
		return nil
	}
	value := m.path.Value
	if m.path.Kind == policy.Prefix {
		value = strings.TrimRight(value, "/") + "/"
	}
	switch seen, err := (policy.PathNormalization{}).Apply(value); {
	case err != nil:
		return []policy.Warning{p.warn(m.field+".path", "path %s never matches: by default the listener answers it with a 400", m.path.Value)}
	case seen != value:
		return []policy.Warning{p.warn(m.field+".path", "path %s never matches: by default the listener turns it into %s first; write that", m.path.Value, seen)}
	}
	return nil
}
