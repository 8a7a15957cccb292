package policy_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// routesOnly is a program with a gate of connections, and a route for a path of one host.
func routesOnly() policy.Program {
	return policy.Program{
		Gates: []policy.Gate{{Form: policy.Named, Default: policy.Verdict{Effect: policy.Allow}, Rules: []policy.Rule{rule(policy.Deny, "wall", attribute.URISAN.Exact("spiffe://td/mallory"))}}},
		Routes: []policy.Route{{
			Name:  "reads",
			When:  policy.And{attribute.Host.Exact("a.example"), attribute.Path.Segments("/a"), attribute.Header("x-role").Exact("b")},
			Gates: []policy.Gate{{Layer: policy.L7, Form: policy.Named, Rules: []policy.Rule{rule(policy.Allow, "readers", attribute.Method.Exact("GET"))}}},
		}},
		RoutesOnly: true,
	}
}

// TestRoutesOnly: what no route takes is judged by connections alone, and is not found.
func TestRoutesOnly(t *testing.T) {
	t.Parallel()
	if err := routesOnly().Check(); err != nil {
		t.Fatal(err)
	}
	role := []policy.Header{{Name: "x-role", Value: "b"}}
	for name, tt := range map[string]struct {
		request policy.Request
		want    policy.Decision
		asked   int
	}{
		"a route takes it":             {policy.Request{Host: "a.example", Path: "/a/b", Method: "GET", Headers: role}, policy.Decision{Verdict: policy.Verdict{Effect: policy.Allow, Origin: "readers"}, Layer: policy.L7}, 2},
		"its gate refuses":             {policy.Request{Host: "a.example", Path: "/a", Method: "PUT", Headers: role}, policy.Decision{Layer: policy.L7}, 2},
		"another path":                 {policy.Request{Host: "a.example", Path: "/ab", Method: "GET", Headers: role}, policy.Decision{Verdict: policy.Verdict{Effect: policy.NoRoute}, Layer: policy.L7}, 1},
		"another host":                 {policy.Request{Host: "b.example", Path: "/a", Method: "GET", Headers: role}, policy.Decision{Verdict: policy.Verdict{Effect: policy.NoRoute}, Layer: policy.L7}, 1},
		"no header":                    {policy.Request{Host: "a.example", Path: "/a", Method: "GET"}, policy.Decision{Verdict: policy.Verdict{Effect: policy.NoRoute}, Layer: policy.L7}, 1},
		"the connection is refused":    {policy.Request{URIs: []string{"spiffe://td/mallory"}, Host: "b.example", Path: "/a"}, policy.Decision{Verdict: policy.Verdict{Origin: "wall"}}, 1},
		"a refused caller of the path": {policy.Request{URIs: []string{"spiffe://td/mallory"}, Host: "a.example", Path: "/a", Method: "GET", Headers: role}, policy.Decision{Verdict: policy.Verdict{Origin: "wall"}}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, traces := policy.Explain(routesOnly(), tt.request)
			if diff := cmp.Diff(tt.want, got); diff != "" || len(traces) != tt.asked {
				t.Errorf("%d gates asked, want %d; (-want +got):\n%s", len(traces), tt.asked, diff)
			}
			for _, trace := range traces {
				if trace.Decides && got.Effect == policy.NoRoute {
					t.Errorf("the gate %s decides about a request without a route", trace.Gate.Layer)
				}
			}
		})
	}
}

func TestCheckRoutesOnly(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		bend func(*policy.Program)
		want string
	}{
		"a gate that no request meets": {func(p *policy.Program) { p.Gates = append(p.Gates, p.Routes[0].Gates...) },
			"policy: a program that serves its routes only has a gate on L7 that is no route's: no request meets it"},
		"a route by the caller": {func(p *policy.Program) { p.Routes[0].When = attribute.URISAN.Exact("spiffe://td/a") },
			`policy: route reads: condition "a URI SAN = \"spiffe://td/a\"" is no And of matches by which a route can be told`},
		"a parameter by its beginning": {func(p *policy.Program) { p.Routes[0].When = attribute.QueryParameter("id").Prefix("1") },
			"policy: route reads: the attribute query-parameter id has no match of the kind Prefix"},
		"an expression that cannot be read": {func(p *policy.Program) {
			p.Routes[0].When = policy.Is{Attribute: attribute.Path, Match: policy.Match{Kind: policy.Regex, Value: "("}}
		}, `policy: route reads: condition "path matches the regex \"(\"" cannot be judged: the regular expression cannot be read: error parsing regexp: missing closing ): ` + "`(`"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := routesOnly()
			tt.bend(&p)
			if err := p.Check(); err == nil || err.Error() != tt.want {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}
