package verdict_test

import (
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

func reasons(p policy.Program, r policy.Request) (decision, shadow string) {
	_, traces := policy.Explain(p, r)
	return verdict.Reasons(traces, r)
}

func TestReason(t *testing.T) {
	t.Parallel()
	verdict := func(e policy.Effect, origin string) policy.Verdict { return policy.Verdict{Effect: e, Origin: origin} }
	program := policy.Program{
		Gates: []policy.Gate{
			{Layer: policy.L4, Default: verdict(policy.Deny, "first"), Rules: []policy.Rule{
				{Verdict: verdict(policy.Allow, "mesh"), When: attribute.Identity.Prefix("spiffe://td/")},
			}},
			{Layer: policy.L7, Default: verdict(policy.Deny, "default"), Rules: []policy.Rule{
				{Verdict: verdict(policy.Deny, "group"), When: attribute.Method.Exact("GET"), Then: []policy.Rule{
					{Verdict: verdict(policy.Allow, "inner"), When: attribute.Path.Segments("/a")},
				}},
			}},
		},
		Shadows: []policy.Gate{{Layer: policy.L7, Default: verdict(policy.Deny, "shadow")}},
	}
	for name, tt := range map[string]struct {
		r                policy.Request
		reason, observed string
	}{
		"the first gate denies": {policy.Request{URIs: []string{"spiffe://other/a"}, Method: "GET", Path: "/a"}, "deny by first: no rule matches", ""},
		"the last one allows": {
			policy.Request{URIs: []string{"spiffe://td/a"}, Method: "GET", Path: "/a"},
			`allow by inner when method = "GET", and within that path under "/a"`, "deny by shadow: no rule matches",
		},
		"a group decides": {policy.Request{URIs: []string{"spiffe://td/a"}, Method: "GET", Path: "/b"}, `deny by group when method = "GET"`, "deny by shadow: no rule matches"},
		"the default":     {policy.Request{URIs: []string{"spiffe://td/a"}, Method: "PUT", Path: "/b"}, "deny by default: no rule matches", "deny by shadow: no rule matches"},
	} {
		if got, observed := reasons(program, tt.r); got != tt.reason || observed != tt.observed {
			t.Errorf("%s: %s\nwant %s\nshadow: %s\nwant %s", name, got, tt.reason, observed, tt.observed)
		}
	}
	audit := policy.Gate{Layer: policy.L7, Rules: program.Gates[1].Rules, Default: policy.Verdict{Effect: policy.Log}}
	for name, program := range map[string]policy.Program{"no gate": {}, "a gate that only logs": {Gates: []policy.Gate{audit}}} {
		if got, observed := reasons(program, policy.Request{Method: "GET", Path: "/a"}); got+observed != "" {
			t.Errorf("%s: %s, shadow: %s", name, got, observed)
		}
	}
}

func TestReasonIsAbridged(t *testing.T) {
	t.Parallel()
	program := policy.Program{Gates: []policy.Gate{{Layer: policy.L7, Rules: []policy.Rule{
		{Verdict: policy.Verdict{Effect: policy.Allow, Origin: "p"}, When: attribute.Path.Segments("/" + strings.Repeat("é", 400))},
	}}}}
	got, _ := reasons(program, policy.Request{Path: "/" + strings.Repeat("é", 400)})
	if len(got) > 450 || !strings.HasSuffix(got, "é…") {
		t.Errorf("%d bytes, ends in %q", len(got), got[max(0, len(got)-8):])
	}
}
