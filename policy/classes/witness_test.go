package classes_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/classes"
)

// programs has a program for every condition.
func programs(conditions ...policy.Condition) (out []policy.Program) {
	for _, c := range conditions {
		out = append(out, policy.Program{Gates: []policy.Gate{{Layer: policy.L7, Rules: []policy.Rule{rule(policy.Allow, "", c)}}}})
	}
	return out
}

func identity(kind policy.MatchKind, value string) policy.Condition {
	return policy.Is{Attribute: attribute.Identity, Match: policy.Match{Kind: kind, Value: value}}
}

// lines returns a line for each class, and for each matcher without one.
func lines(cover *classes.Cover) []string {
	var out []string
	for _, c := range cover.Classes {
		r := c.Witness
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s: %s %s %s", c, strings.Join(slices.Concat(r.URIs, r.DNS), " "), r.Method, r.Path)))
	}
	for _, d := range cover.Dimensions {
		for _, u := range d.Unreachable {
			out = append(out, fmt.Sprintf("no %s: %v", u.Cell, u.Reason))
		}
	}
	return out
}

func TestWitnesses(t *testing.T) {
	t.Parallel()
	const exact, prefix = policy.Exact, policy.Prefix
	tcp := classes.Surface{Protocol: policy.TCP}
	for _, tt := range []struct {
		name     string
		surface  classes.Surface
		programs []policy.Program
		want     []string
	}{
		{"prefixes break off anywhere", tcp, programs(
			identity(prefix, "spiffe://td/ns/a/"), identity(prefix, "spiffe://td/ns/b"), identity(prefix, "spiffe://t"), identity(prefix, "spiffe://trust-domain.m"), identity(exact, "spiffe://td/ns/a/sa/x")), []string{
			"any other identity: spiffe://other.example/ns/any/sa/any",
			"identity spiffe://t… but not spiffe://td/ns/a/…, spiffe://td/ns/b…, spiffe://trust-domain.m…: spiffe://td/ns/any/sa/any",
			"identity spiffe://td/ns/a/… but not spiffe://td/ns/a/sa/x: spiffe://td/ns/a/sa/any",
			"identity spiffe://td/ns/a/sa/x: spiffe://td/ns/a/sa/x",
			"identity spiffe://td/ns/b…: spiffe://td/ns/b/sa/any",
			"identity spiffe://trust-domain.m…: spiffe://trust-domain.m/ns/any/sa/any",
		}},
		{"a trust domain that is known", classes.Surface{Protocol: policy.TCP, TrustDomains: []string{"trust-domain.mesh"}}, programs(
			identity(prefix, "spiffe://trust-domain.m"), identity(exact, "spiffe://other/a")), []string{
			"any other identity:",
			"identity spiffe://trust-domain.m…: spiffe://trust-domain.mesh/ns/any/sa/any",
			`no identity spiffe://other/a: "spiffe://other/a" is not of a trust domain that the inbound trusts`,
		}},
		{"no caller has such an identity", tcp, programs(
			identity(exact, "spiffe://td/a/"), identity(prefix, "spiffe://td//"), identity(prefix, "http://"), identity(prefix, "spiffe://TD/")), []string{
			"any other identity: spiffe://td/ns/any/sa/any",
			`no identity http://…: "http://any" is not a SPIFFE ID: scheme is missing or invalid`,
			`no identity spiffe://TD/…: "spiffe://TD/ns/any/sa/any" is not a SPIFFE ID: trust domain characters are limited to lowercase letters, numbers, dots, dashes, and underscores`,
			`no identity spiffe://td//…: "spiffe://td//any" is not a SPIFFE ID: path cannot contain empty segments`,
			`no identity spiffe://td/a/: "spiffe://td/a/" is not a SPIFFE ID: path cannot have a trailing slash`,
		}},
		{"two URI SANs", tcp, programs(identity(exact, "spiffe://td/a,spiffe://td/b"), identity(prefix, "spiffe://td/c,")), []string{
			"any other identity: spiffe://td/ns/any/sa/any",
			"identity spiffe://td/a,spiffe://td/b: spiffe://td/a spiffe://td/b",
			"identity spiffe://td/c,…: spiffe://td/c spiffe://td/ns/any/sa/any",
		}},
		{"each name by itself", tcp, programs(attribute.URISAN.Exact("spiffe://td/a"), attribute.URISAN.Exact("kuma://env/dev")), []string{
			"callers without spiffe://td/a, kuma://env/dev: spiffe://td/ns/any/sa/any",
			"callers with spiffe://td/a but not kuma://env/dev: spiffe://td/a",
			"callers with kuma://env/dev and spiffe://td/a: spiffe://td/a kuma://env/dev",
			"callers with kuma://env/dev but not spiffe://td/a: spiffe://td/ns/any/sa/any kuma://env/dev",
		}},
		{"one name decides", tcp, []policy.Program{{Gates: []policy.Gate{{Rules: []policy.Rule{
			rule(policy.Allow, "", policy.Or{attribute.URISAN.Exact("spiffe://td/a"), attribute.URISAN.Exact("spiffe://td/b")})}}}}}, []string{
			"any other identity: spiffe://td/ns/any/sa/any",
			"identity spiffe://td/a: spiffe://td/a",
			"identity spiffe://td/b: spiffe://td/b",
		}},
		{"one tag decides", tcp, []policy.Program{{Gates: []policy.Gate{{Rules: []policy.Rule{rule(policy.Allow, "", attribute.URISAN.Exact("kuma://env/dev"))}}}}}, []string{
			"callers without kuma://env/dev: spiffe://trust-domain.mesh/ns/any/sa/any",
			"callers with kuma://env/dev: spiffe://trust-domain.mesh/ns/any/sa/any kuma://env/dev",
		}},
		{"names that no SPIFFE ID can be", tcp, programs(attribute.URISAN.Exact("web.example"), attribute.URISAN.Exact("spiffe://td/a/")), []string{
			"callers without web.example, spiffe://td/a/: spiffe://td/ns/any/sa/any",
			"callers with web.example but not spiffe://td/a/: spiffe://td/ns/any/sa/any web.example",
			"callers with spiffe://td/a/ and web.example: spiffe://td/ns/any/sa/any spiffe://td/a/ web.example",
			"callers with spiffe://td/a/ but not web.example: spiffe://td/ns/any/sa/any spiffe://td/a/",
		}},
		{"names that RFC 5280 does not allow", tcp, []policy.Program{{Gates: []policy.Gate{{Rules: []policy.Rule{
			rule(policy.Allow, "", policy.And{attribute.URISAN.Exact("kuma://env/ü"), policy.Not{Condition: attribute.URISAN.Exact("")}})}}}}}, []string{
			"callers without kuma://env/ü: spiffe://trust-domain.mesh/ns/any/sa/any",
			`callers with kuma://env/ü but not "": spiffe://trust-domain.mesh/ns/any/sa/any kuma://env/ü`,
			`callers with "" and kuma://env/ü: spiffe://trust-domain.mesh/ns/any/sa/any kuma://env/ü`,
		}},
		{"names inside each other", tcp, programs(policy.Is{Attribute: attribute.URISAN, Match: policy.Match{Kind: prefix, Value: ""}}, policy.Is{Attribute: attribute.URISAN, Match: policy.Match{Kind: prefix, Value: "kuma://"}}, attribute.URISAN.Exact("kuma://env/dev")), []string{
			"callers without any name:",
			"callers with any name but not kuma://…: spiffe://trust-domain.mesh/ns/any/sa/any",
			"callers with kuma://… but not kuma://env/dev: spiffe://trust-domain.mesh/ns/any/sa/any kuma://any",
			"callers with kuma://env/dev: spiffe://trust-domain.mesh/ns/any/sa/any kuma://env/dev",
		}},
		{"no caller is without a SPIFFE ID in front", tcp, programs(policy.Is{Attribute: attribute.URISAN, Match: policy.Match{Kind: prefix, Value: "spiffe://"}}, policy.Is{Attribute: attribute.URISAN, Match: policy.Match{Kind: prefix, Value: "spiffe://td/"}}, attribute.URISAN.Exact("kuma://env/dev")), []string{
			"callers without spiffe://…, kuma://env/dev:",
			"callers with spiffe://… but not spiffe://td/…, kuma://env/dev: spiffe://other.example/ns/any/sa/any",
			"callers with spiffe://td/… but not kuma://env/dev: spiffe://td/ns/any/sa/any",
			"callers with kuma://env/dev and spiffe://td/…: spiffe://td/ns/any/sa/any kuma://env/dev",
			"callers with kuma://env/dev and spiffe://… but not spiffe://td/…: spiffe://other.example/ns/any/sa/any kuma://env/dev",
		}},
		{"paths", classes.Surface{}, programs(
			attribute.Path.Segments("/a/"), attribute.Path.Exact("/a"), attribute.Path.Exact("/a//b"), attribute.Path.Exact("/b?c"), attribute.Path.Exact("/%2f"), attribute.Path.Exact("/{")), []string{
			"any other path: spiffe://trust-domain.mesh/ns/any/sa/any GET /",
			"path under /a but not /a, /a//b: spiffe://trust-domain.mesh/ns/any/sa/any GET /a/any",
			"path /a: spiffe://trust-domain.mesh/ns/any/sa/any GET /a",
			`no path /%2f: path refused with 400: "/%2f" has an escaped slash`,
			`no path /a//b: the listener makes "/a/b" of the path "/a//b"`,
			`no path /b?c: no request has the path "/b?c"`,
			`no path /{: '{' in the path "/{" has to be escaped`,
		}},
		{"two slashes", classes.Surface{}, programs(attribute.Path.Exact("/"), attribute.Path.Exact("//"), attribute.Path.Exact("///")), []string{
			"any other path: spiffe://trust-domain.mesh/ns/any/sa/any GET /any",
			"path /: spiffe://trust-domain.mesh/ns/any/sa/any GET /",
			"path //: spiffe://trust-domain.mesh/ns/any/sa/any GET //",
			`no path ///: the listener makes "//" of the path "///"`,
		}},
		{"paths that begin with two slashes", classes.Surface{}, programs(policy.Is{Attribute: attribute.Path, Match: policy.Match{Kind: policy.Prefix, Value: "//"}}), []string{
			`path starts with "//": spiffe://trust-domain.mesh/ns/a/sa/a GET //`,
			"any other request: spiffe://trust-domain.mesh/ns/a/sa/a GET /",
		}},
		{"methods of HTTP/1.1", classes.Surface{}, programs(attribute.Method.Exact("GET"), attribute.Method.Exact("get"), attribute.Method.Exact("CONNECT")), []string{
			"any other method: spiffe://trust-domain.mesh/ns/any/sa/any POST /",
			"method GET: spiffe://trust-domain.mesh/ns/any/sa/any GET /",
			"no method CONNECT: a CONNECT has no path and opens a tunnel",
			`no method get: HTTP/1.1 answers 400 to the method "get"`,
		}},
		{"methods of HTTP/2", classes.Surface{Protocol: policy.HTTP2}, programs(attribute.Method.Exact("get"), attribute.Method.Exact("G T")), []string{
			"any other method: spiffe://trust-domain.mesh/ns/any/sa/any GET /",
			"method get: spiffe://trust-domain.mesh/ns/any/sa/any get /",
			`no method G T: "G T" is no token of RFC 9110, section 5.6.2`,
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, lines(classes.Cut(tt.surface, tt.programs...))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestWitnessIsFoundWhereverThereIsOne removes one beginning of a name after the other, until
// nothing of a prefix is left.
func TestWitnessIsFoundWhereverThereIsOne(t *testing.T) {
	t.Parallel()
	matchers := []policy.Condition{identity(policy.Prefix, "spiffe://td/"), identity(policy.Exact, "spiffe://td/z/any"), identity(policy.Exact, "spiffe://td/z")}
	for _, c := range "abcdefghijklmnopqrstuvwxyABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._" {
		matchers = append(matchers, identity(policy.Prefix, "spiffe://td/"+string(c)))
	}
	find := func() string {
		for _, line := range lines(classes.Cut(classes.Surface{Protocol: policy.TCP}, programs(matchers...)...)) {
			if strings.Contains(line, "identity spiffe://td/…") {
				_, after, _ := strings.Cut(line, ": ")
				return after
			}
		}
		return ""
	}
	for _, step := range []struct{ want, take string }{
		{"spiffe://td/z-any", "spiffe://td/z-"},
		{"spiffe://td/zaany", "spiffe://td/z"},
	} {
		if got := find(); got == "" || !strings.HasPrefix(got, "spiffe://td/z") {
			t.Errorf("witness %q, want one as %q", got, step.want)
		}
		matchers = append(matchers, identity(policy.Prefix, step.take))
	}
	if got, want := find(), "the 65 matchers inside it leave nothing of it"; got != want {
		t.Errorf("nothing is left, got %q", got)
	}
}

func rule(effect policy.Effect, origin string, when policy.Condition) policy.Rule {
	return policy.Rule{Verdict: policy.Verdict{Effect: effect, Origin: origin}, When: when}
}
