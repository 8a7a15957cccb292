package harness

import (
	"testing"

	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// headerMatches are matches of headers, of the host, of the query and of whole paths, of each
// kind that the form can say.
func headerMatches(form policy.Form) (out []policy.Condition) {
	is := func(a *policy.Attribute, kind policy.MatchKind, value string) policy.Condition {
		return policy.Is{Attribute: a, Match: policy.Match{Kind: kind, Value: value}}
	}
	anyCase := func(a *policy.Attribute, kind policy.MatchKind, value string) policy.Condition {
		return policy.Is{Attribute: a, Match: policy.Match{Kind: kind, Value: value, AnyCase: true}}
	}
	role, whole := attribute.Header("X-Role"), attribute.Header(":path")
	if form == policy.Ordered {
		role = role.Joined
	}
	present := is(role, policy.Present, "")
	out = []policy.Condition{
		present, policy.Not{Of: present}, is(attribute.Query, policy.Present, ""),
		policy.And{role.Exact("admin"), is(role, policy.Contains, "min")},
		policy.And{present, policy.Not{Of: role.Exact("admin")}},
		policy.Not{Of: is(role, policy.Regex, ".*admin.*")},
		policy.Not{Of: is(attribute.Host, policy.Suffix, ".a.com")},
		role.Exact(""), policy.And{is(attribute.Query, policy.Contains, "admin"), attribute.Path.Exact("/a")},
		attribute.Query.Exact("a=1"), attribute.Query.Exact(""), attribute.Query.Prefix("a"), is(attribute.Query, policy.Suffix, "z?"), anyCase(attribute.Query, policy.Contains, "Kk.s"),
		is(whole, policy.Regex, `/public(/.*)?\?.*`), is(whole, policy.Suffix, "/b"),
	}
	for a, value := range map[*policy.Attribute]string{role: "admin", attribute.Host: "a.com:8080", whole: "/a?b"} {
		out = append(out, a.Exact(value), a.Prefix(value), is(a, policy.Suffix, value[1:]), is(a, policy.Contains, value[1:]), anyCase(a, policy.Exact, value),
			anyCase(a, policy.Suffix, value), is(a, policy.Regex, value[:2]+".*[a-z0-9]"))
	}
	if form == policy.Ordered {
		return append(out, role.Exact("user,admin"), is(role, policy.Suffix, ",admin"), is(role, policy.Regex, "(.*,)?admin(,.*)?"))
	}
	// Two lines tell these apart, where Envoy compares each by itself.
	out = append(out, policy.And{role.Exact("a"), role.Exact("b")}, policy.And{role.Exact("a"), policy.Not{Of: role.Exact("b")}})
	for _, template := range []string{"/a/*/c", "/a/**", "/{*}/b", "/v1/{x=a/*}/{**}", "/files/**.json"} {
		out = append(out, is(attribute.Path, policy.Template, template))
	}
	return out
}

// TestEnvoyHeaders asks Envoy for all that a caller says of a request, by both forms of a gate.
func TestEnvoyHeaders(t *testing.T) {
	t.Parallel()
	for _, protocol := range []policy.Protocol{policy.HTTP, policy.HTTP2, policy.GRPC} {
		t.Run(protocol.String(), func(t *testing.T) {
			t.Parallel()
			askEnvoy(t, sharedEnvoy.Get(t), protocol, token.Demand{}, 500, headerMatches)
		})
	}
}
