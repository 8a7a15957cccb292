package lint

import (
	"strings"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
)

// lintPrefix warns of an identity prefix that ends inside a name. Prefixes compare
// bytes, so that the prefix meets every name that begins with it.
func lintPrefix(p *permission.Policy, l permission.List, m permission.Matcher) []policy.Warning {
	if m.Identity == nil || m.Identity.Kind != policy.Prefix || strings.HasSuffix(m.Identity.Value, "/") {
		return nil
	}
	value, verb := m.Identity.Value, "admits"
	if l == permission.Deny {
		verb = "denies"
	}
	if !strings.Contains(value[len(permission.Scheme):], "/") {
		return []policy.Warning{p.Warn(m.Field, "prefix %s breaks off inside a trust domain: it also %s the trust domain %s-evil; write %s/", value, verb, value, value)}
	}
	return []policy.Warning{p.Warn(m.Field, "prefix %s does not end in a slash: it also %s %s-evil/...; write %s/, or Exact for one identity", value, verb, value, value)}
}

// lintPath warns of a path that no request has by then, because the listener
// rewrites or refuses such requests first.
func lintPath(p *permission.Policy, m permission.Matcher) []policy.Warning {
	if m.Path == nil {
		return nil
	}
	value := m.Path.Value
	if m.Path.Kind == policy.Prefix {
		value = strings.TrimRight(value, "/") + "/"
	}
	switch seen, err := (policy.PathNormalization{}).Apply(value); {
	case err != nil:
		return []policy.Warning{p.Warn(m.Field+".path", "path %s never matches: by default the listener answers it with a 400", m.Path.Value)}
	case seen != value:
		return []policy.Warning{p.Warn(m.Field+".path", "path %s never matches: by default the listener turns it into %s first; write that", m.Path.Value, seen)}
	}
	return nil
}
