package classes_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/classes"
)

// named returns a program of one gate of named rules that allow.
func named(of ...policy.Condition) policy.Program {
	gate := policy.Gate{Layer: policy.L7, Form: policy.Named}
	for i, when := range of {
		gate.Rules = append(gate.Rules, policy.Rule{Verdict: policy.Verdict{Effect: policy.Allow, Origin: fmt.Sprint("rule-", i)}, When: when})
	}
	return policy.Program{Gates: []policy.Gate{gate}}
}

// TestHTTPAttributes holds the witnesses of covers by host, headers and query.
func TestHTTPAttributes(t *testing.T) {
	t.Parallel()
	role, joined, whole := attribute.Header("x-role"), attribute.Header("x-role").Joined, attribute.Header(":path")
	present := is(role, policy.Present, "")
	for name, tt := range map[string]struct {
		program policy.Program
		want    []string
	}{
		"host":            {named(attribute.Host.Exact("a.com")), []string{"any.example / []", "a.com / []"}},
		"host by suffix":  {named(is(attribute.Host, policy.Suffix, ".a.com")), []string{"a.a.com / []", "any.example / []"}},
		"one line":        {named(role.Exact("admin")), []string{" / [admin]", " / []"}},
		"absent or empty": {named(role.Exact(""), present), []string{" / []", " / [a]", " / []"}},
		"two lines":       {named(policy.And{role.Exact("a"), role.Exact("b")}), []string{" / [b a]", " / []"}},
		"a list":          {ordered(joined.Exact("a,b")), []string{" / [a,b]", " / []"}},
		"absent":          {named(policy.Not{Condition: present}), []string{" / []", " / [a]"}},
		"two lines alike": {named(policy.And{role.Prefix("ad"), is(role, policy.Suffix, "min")}), []string{" / [admin]", " / []"}},
		"no such line":    {named(policy.And{role.Exact("a"), policy.Not{Condition: role.Prefix("a")}}), []string{" / []"}},
		"query":           {named(attribute.Query.Exact("b=1")), []string{" /?b=1 []", " / []"}},
		"path and query":  {named(policy.And{attribute.Path.Exact("/a"), is(attribute.Query, policy.Contains, "x")}), []string{" /a?x []", " / []"}},
		"whole path":      {named(is(whole, policy.Regex, `/public\?v=[0-9]`), attribute.Path.Exact("/public")), []string{" /public?v=0 []", " /public []", " / []"}},
		"template":        {named(is(attribute.Path, policy.Template, "/a/*/c/**")), []string{" /a/a/c/a []", " / []"}},
		"parameter": {policy.Program{Routes: []policy.Route{
			{Name: "one", When: attribute.QueryParameter("id").Exact("1")}, {Name: "none", When: attribute.QueryParameter("id").Exact("")},
		}}, []string{" /?id=1 []", " /?id []", " / []"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := tt.program.Check(); err != nil {
				t.Fatal(err)
			}
			cover := classes.Cut(classes.Surface{}, tt.program)
			var got []string
			for i, class := range cover.Classes {
				var lines []string
				for _, h := range class.Witness.Headers {
					lines = append(lines, h.Value)
				}
				got = append(got, fmt.Sprint(class.Witness.Host, " ", class.Witness.Path, " ", lines))
				for _, n := range cover.Neighbours(i) {
					if at, ok := cover.Locate(n.Request); !ok || at != n.Class {
						t.Errorf("%s of class %d: %+v is in no class", n.Why, i, n.Request)
					}
				}
			}
			if !slices.Equal(got, tt.want) || !cover.Complete() {
				t.Errorf("witnesses\n%q, want\n%q, of %s", got, tt.want, cover)
			}
		})
	}
}

// TestInvalidByteBesideEachRegex holds that a caller who meets a regular expression on a header has a
// neighbour whose line has a byte more that is no UTF-8. Some releases of Envoy match no such line.
func TestInvalidByteBesideEachRegex(t *testing.T) {
	t.Parallel()
	for _, expression := range []string{"admin.*", ".*admin.*", "(root|admin)", "a[a-z]+n"} {
		for _, header := range []*policy.Attribute{attribute.Header("x-role"), attribute.Header("x-role").Joined} {
			p := named(is(header, policy.Regex, expression))
			if header.Family == "joined-header" {
				p = ordered(is(header, policy.Regex, expression))
			}
			cover := classes.Cut(classes.Surface{}, p)
			for i, class := range cover.Classes {
				if len(class.Witness.Headers) == 0 {
					continue
				}
				line := class.Witness.Headers[0].Value + "\xff"
				if !slices.ContainsFunc(cover.Neighbours(i), func(n classes.Neighbour) bool {
					return len(n.Request.Headers) == 1 && n.Request.Headers[0].Value == line
				}) {
					t.Errorf("%s by %s: no neighbour has the line %q", expression, header.Name, line)
				}
			}
		}
	}
}
