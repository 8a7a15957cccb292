package harness

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	matcherv3 "github.com/cncf/xds/go/xds/type/matcher/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	httprbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"

	"github.com/meshproof/meshproof/internal/behavior"
	"github.com/meshproof/meshproof/internal/rbac"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/xds"
)

// unchecked compiles a gate of HTTP that may have no meaning.
func unchecked(t *testing.T, gate policy.Gate) xds.Filters {
	t.Helper()
	var matcher *matcherv3.Matcher
	var rules *rbacv3.RBAC
	var err error
	if gate.Form == policy.Ordered {
		matcher, err = rbac.Ordered(gate)
	} else {
		rules, err = rbac.Named(gate)
	}
	if err != nil {
		t.Fatal(err)
	}
	return xds.Filters{HTTP: []*httprbacv3.RBAC{{Matcher: matcher, Rules: rules}}}
}

func regularExpression(expression string) policy.Is {
	return policy.Is{Attribute: attribute.Host, Match: policy.Match{Kind: policy.Regex, Value: expression}}
}

func pathTemplate(template string) policy.Is {
	return policy.Is{Attribute: attribute.Path, Match: policy.Match{Kind: policy.Template, Value: template}}
}

// onSomeReleases are expressions that some releases take, and Check refuses for all.
var onSomeReleases = []string{`\x{100}`, `(\pL\pN){1000}`}

// TestLimitsOfEnvoy asks Envoy for matches at its limits: Check refuses what Envoy refuses, and
// Envoy takes what Check takes.
func TestLimitsOfEnvoy(t *testing.T) {
	t.Parallel()
	h := sharedEnvoy.Get(t)
	m := h.Mesh(t, inbounds(t, allOf(policy.Deny)))
	long := strings.Repeat("v", 20_000)
	for _, tt := range []struct {
		when    policy.Is
		forms   []policy.Form
		refused bool
	}{
		// The program of 4,000 characters has more than the 100 instructions that Envoy takes by
		// default, and those of the others are the largest that Check takes.
		{when: regularExpression(strings.Repeat("a", 4000))},
		{when: regularExpression(`.{300}[^/]{200}`)},
		{when: regularExpression(`([^\x{10}-\x{20}]|K){100}\b`)},
		{when: regularExpression(`(\pL\pN){1000}`), refused: !h.Behavior().Fixed(behavior.RegexBytes)},
		{when: attribute.Query.Exact(long[:4000])},
		{when: regularExpression("("), refused: true},
		{when: regularExpression("a{1001}"), refused: true},
		{when: regularExpression(`\x{ff}`)},
		{when: regularExpression(`\x{100}`), refused: h.Behavior().Fixed(behavior.RegexBytes)},
		{when: attribute.Header("x-a").Exact(long), forms: []policy.Form{policy.Named}},
		{when: attribute.Header("x-a").Joined.Exact(long), forms: []policy.Form{policy.Ordered}},
		{when: attribute.Header(long).Exact("a"), forms: []policy.Form{policy.Named}},
		{when: attribute.Header("a b").Exact("a"), forms: []policy.Form{policy.Named}},
		{when: attribute.Header("").Exact("a"), forms: []policy.Form{policy.Named}, refused: true},
		{when: attribute.Header("a\nb").Exact("a"), forms: []policy.Form{policy.Named}, refused: true},
		{when: attribute.Header("a\x00").Joined.Exact("a"), forms: []policy.Form{policy.Ordered}, refused: true},
		{when: attribute.Claim("a", "").Exact("a"), refused: true},
		{when: attribute.Claim("a b", "c.d").Exact(long)},
		{when: policy.Is{Attribute: attribute.Host, Match: policy.Match{Kind: policy.Suffix}}, refused: true},
		{when: pathTemplate("/{a}/{b}/*/{c}/{d=x/*}/{e=**}"), forms: []policy.Form{policy.Named}},
		{when: pathTemplate("/**/a/b;c=%20/"), forms: []policy.Form{policy.Named}},
		{when: pathTemplate("/" + long[:255]), forms: []policy.Form{policy.Named}},
		{when: pathTemplate("/" + long[:256]), forms: []policy.Form{policy.Named}, refused: true},
	} {
		if tt.forms == nil {
			tt.forms = []policy.Form{policy.Ordered, policy.Named}
		}
		for _, form := range tt.forms {
			p := allowing(policy.L7, form, tt.when)
			name := fmt.Sprintf("%s: %.60q of %.20s", form, tt.when.Match.Value, tt.when.Attribute.Name)
			checked, pushed := p.Check(), m.SetFilters(t.Context(), map[string]xds.Filters{"http": unchecked(t, p.Gates[0])})
			if (pushed != nil) != tt.refused {
				t.Errorf("%s: Envoy says %.300v, want an error %t", name, pushed, tt.refused)
			}
			if pushed != nil && checked == nil {
				t.Errorf("%s: Check takes what Envoy refuses: %.300v", name, pushed)
			}
			if pushed == nil && checked != nil && !slices.Contains(onSomeReleases, tt.when.Match.Value) {
				t.Errorf("%s: Envoy takes what Check refuses: %.300v", name, checked)
			}
		}
	}
}

// TestTemplatesThatEndEnvoy shows that Envoy ends when it is given a template that it cannot
// read. Check refuses each of them.
func TestTemplatesThatEndEnvoy(t *testing.T) {
	t.Parallel()
	for _, template := range []string{"/**/*", "/{a}/{a}", "/{}", "/{a-b}", "/a//b", "/a b", "/{a}/{b}/{c}/{d}/{e}/{f}"} {
		t.Run(template, func(t *testing.T) {
			t.Parallel()
			p := allowing(policy.L7, policy.Named, pathTemplate(template))
			if err := p.Check(); err == nil || !strings.Contains(err.Error(), "the template cannot be read") {
				t.Errorf("Check says %v", err)
			}
			h, err := Start(t.Context(), WithRuntime(Process))
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()
			m, err := h.NewMesh(t.Context(), inbounds(t, allOf(policy.Deny)))
			if err != nil {
				t.Fatal(err)
			}
			if err := m.SetFilters(t.Context(), map[string]xds.Filters{"http": unchecked(t, p.Gates[0])}); err == nil {
				t.Error("Envoy takes it")
			}
		})
	}
}
