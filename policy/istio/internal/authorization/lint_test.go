package authorization_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/internal/warning"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/istio/internal/authorization"
)

// warnings returns the kind, the field and the message of each warning.
func warnings(t *testing.T, yaml string, in []policy.Inbound, demand token.Demand) (out []string) {
	t.Helper()
	for _, w := range authorization.Lint(parseAll(t, yaml), in, options, func(policy.Inbound) token.Demand { return demand }) {
		_, field, _ := strings.Cut(w.Place, ": ")
		out = append(out, fmt.Sprintf("%s %s: %s", w.Kind, field, w.Message))
	}
	return out
}

func TestLintFates(t *testing.T) {
	t.Parallel()
	deny := func(rules string) string { return one("wall", "action: DENY, rules: ["+rules+"]") }
	allow := func(rules string) string { return one("hole", "rules: ["+rules+"]") }
	const (
		hidden = "hidden-by-deny spec.rules[0]: never allows: every request that it meets is denied, by ns[default]-policy[wall]-rule[0]"
		never  = "never-matches spec.rules[0]: no request that reaches an inbound of the policy meets the rule"
		longer = "path-inside-name spec.rules[0].to[0].operation.paths[0]: the star also stands for the rest of a longer name, as in /a-internal: write /a and /a/*"
		get    = "{to: [{operation: {methods: [GET]}}]}"
		get8   = "{to: [{operation: {methods: [GET], ports: ['8080']}}]}"
		put8   = "{to: [{operation: {methods: [PUT], ports: ['8080']}}]}"
		below  = "{to: [{operation: {paths: ['/a/*']}}]}"
		all    = "{}"
	)
	http, tcp := inbounds()[:1], inbounds()[1:2]
	for _, tt := range []struct {
		name, policies string
		inbounds       []policy.Inbound
		tokens         token.Demand
		want           []string
	}{
		{name: "the same rule", policies: deny(get) + allow(get), inbounds: http, want: []string{hidden}},
		{name: "another method", policies: deny(get) + allow(put8), inbounds: http},
		{name: "a wider deny", policies: deny(all) + allow(get), inbounds: http, want: []string{hidden}},
		{name: "a narrower deny", policies: deny(get8) + allow(all), inbounds: http},
		{name: "a path below", policies: deny(below) + allow("{to: [{operation: {paths: [/a/b, '/a/b/*'], methods: [GET]}}]}"), inbounds: http, want: []string{hidden}},
		{name: "one path of two", policies: deny(below) + allow("{to: [{operation: {paths: [/a/b, /a]}}]}"), inbounds: http},
		{name: "two denies together", policies: deny(get+", {to: [{operation: {notMethods: [GET]}}]}") + allow("{to: [{operation: {paths: [/a]}}]}"), inbounds: http,
			want: []string{hidden + " and ns[default]-policy[wall]-rule[1]"}},
		{name: "by who calls", policies: deny("{from: [{source: {namespaces: [a]}}]}") + allow("{from: [{source: {principals: [td/ns/a/sa/x]}}]}"), inbounds: http, want: []string{hidden}},
		{name: "a neighbour of who calls", policies: deny("{from: [{source: {namespaces: [a]}}]}") + allow("{from: [{source: {principals: [td/ns/ab/sa/x]}}]}"), inbounds: http},
		{name: "with an exception", policies: deny("{from: [{source: {notNamespaces: [a]}}]}") + allow("{from: [{source: {namespaces: [b]}}]}"), inbounds: http},
		{name: "hidden on one inbound of two", policies: deny(get8) + allow("{from: [{source: {namespaces: [a]}}]}"), inbounds: slices.Concat(http, tcp)},
		{name: "no deny", policies: allow(get), inbounds: http},
		{name: "a field against its negation", policies: allow("{to: [{operation: {methods: [GET], notMethods: ['G*']}}]}"), inbounds: http, want: []string{never}},
		{name: "two values at once", policies: allow("{to: [{operation: {paths: [/a]}}], when: [{key: 'request.headers[:path]', values: [/b]}]}"), inbounds: http, want: []string{never}},
		{name: "a DENY that never matches", policies: deny("{to: [{operation: {paths: ['/a*'], notPaths: ['/*']}}]}"), inbounds: http, want: []string{never}},
		{name: "a DENY of longer names", policies: deny("{to: [{operation: {paths: ['/a*']}}]}"), inbounds: http},
		{name: "an ALLOW of other names", policies: allow("{to: [{operation: {notPaths: ['/a*']}}]}"), inbounds: http},
		{name: "a DENY of other names", policies: deny("{to: [{operation: {notPaths: ['/a*']}}]}"), inbounds: http, want: []string{strings.Replace(longer, ".paths", ".notPaths", 1)}},
		{name: "a star behind a name", policies: allow("{to: [{operation: {paths: ['/a*', /a]}}]}"), inbounds: http, want: []string{longer}},
		{name: "stars behind a slash and a sign", policies: allow("{to: [{operation: {paths: ['/a/*', '/*', '/report-*', '*/a', '*']}}]}"), inbounds: http},
		{name: "an AUDIT that never matches", policies: one("p", "action: AUDIT, rules: [{to: [{operation: {notPaths: ['*']}}]}]"), inbounds: http, want: []string{never}},
		{name: "an issuer that is not demanded", policies: allow("{from: [{source: {requestPrincipals: [a/x]}}]}"), inbounds: http,
			tokens: token.Demand{Issuers: []token.Issuer{{Name: "b"}}}, want: []string{never}},
		{name: "slashes that stay", policies: deny("{to: [{operation: {paths: [/x]}}]}") + allow("{to: [{operation: {paths: [//admin, /x]}}]}"), inbounds: http},
		{name: "an issuer that is", policies: allow("{from: [{source: {requestPrincipals: [b/x]}}]}"), inbounds: http,
			tokens: token.Demand{Issuers: []token.Issuer{{Name: "b"}}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := warnings(t, tt.policies, tt.inbounds, tt.tokens)
			if diff := cmp.Diff(tt.want, slices.DeleteFunc(got, func(w string) bool { return strings.HasPrefix(w, string(warning.NegativeWithoutIdentity)) })); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestHiddenIsSound holds the warnings of each DENY beside each ALLOW against what the program
// lets through.
func TestHiddenIsSound(t *testing.T) {
	t.Parallel()
	var rules []string
	for _, path := range []string{"", "paths: [/a]", "paths: ['/a*']", "paths: ['/a/*']", "paths: ['*b']", "notPaths: ['/a*']"} {
		for _, method := range []string{"", "methods: [GET]", "notMethods: [GET]"} {
			for _, source := range []string{"", "namespaces: [a]", "notNamespaces: [a]", "principals: ['*']"} {
				operation := strings.Trim(path+", "+method, ", ")
				var parts []string
				if operation != "" {
					parts = append(parts, "to: [{operation: {"+operation+"}}]")
				}
				if source != "" {
					parts = append(parts, "from: [{source: {"+source+"}}]")
				}
				rules = append(rules, "{"+strings.Join(parts, ", ")+"}")
			}
		}
	}
	var requests []policy.Request
	for _, uris := range [][]string{nil, {"spiffe://td/ns/a/sa/x"}, {"spiffe://td/ns/b/sa/x"}, {"spiffe://td/x"}} {
		for _, path := range []string{"/", "/a", "/a/", "/a/b", "/ab", "/b", "/xb"} {
			for _, method := range []string{"GET", "PUT"} {
				requests = append(requests, policy.Request{URIs: uris, Path: path, Method: method})
			}
		}
	}
	in := inbounds()[0]
	step := 17
	if testing.Short() {
		step = 101
	}
	for i := 0; i < len(rules)*len(rules); i += step {
		deny, allow := rules[i/len(rules)], rules[i%len(rules)]
		ps := parseAll(t, one("wall", "action: DENY, rules: ["+deny+"]")+one("hole", "rules: ["+allow+"]"))
		said := slices.ContainsFunc(authorization.Lint(ps, []policy.Inbound{in}, options, func(policy.Inbound) (none token.Demand) { return }), func(w policy.Warning) bool {
			return w.Kind == warning.HiddenByDeny
		})
		program := authorization.Lower(authorization.Select(ps, in, options), in, options)
		left := slices.ContainsFunc(requests, func(r policy.Request) bool { return policy.Decide(program, r).Effect == policy.Allow })
		if said == left {
			t.Errorf("allow %s under deny %s: hidden is %t, but something left is %t", allow, deny, said, left)
		}
	}
}

// TestLintNegative warns of each way to let in a caller without a name by an exclusion, and of no rule
// that asks for a name.
func TestLintNegative(t *testing.T) {
	t.Parallel()
	const (
		inSource = `a caller in plaintext has no name and is none of them: add principals: ["*"] to let in only callers with a certificate`
		inWhen   = `a caller in plaintext has no name and is none of them: add when: [{key: source.principal, values: ["*"]}] to let in only callers with a certificate`
	)
	for _, tt := range []struct {
		name, rule string
		want       []string
	}{
		{"namespaces", "from: [{source: {notNamespaces: [a]}}]", []string{"from[0].source.notNamespaces: " + inSource}},
		{"trust domains", "from: [{source: {notTrustDomains: [a]}}]", []string{"from[0].source.notTrustDomains: " + inSource}},
		{"service accounts", "from: [{source: {notServiceAccounts: [a]}}]", []string{"from[0].source.notServiceAccounts: " + inWhen}},
		{"a condition", "when: [{key: source.principal, notValues: [td/a]}]", []string{"when[0].notValues: " + inWhen}},
		{"the second source", "from: [{source: {namespaces: [a]}}, {source: {notNamespaces: [b]}}]", []string{"from[1].source.notNamespaces: " + inSource}},
		{"a source of addresses", "from: [{source: {ipBlocks: [10.0.0.0/8]}}], when: [{key: source.namespace, notValues: [a]}]", []string{"when[0].notValues: " + inSource}},
		{"beside a name", `from: [{source: {notNamespaces: [a], principals: ["*"]}}]`, nil},
		{"beside a trust domain", "from: [{source: {notNamespaces: [a], trustDomains: [td]}}]", nil},
		{"beside a condition", `from: [{source: {notServiceAccounts: [a]}}], when: [{key: source.principal, values: ["*"]}]`, nil},
		{"a condition beside names", "from: [{source: {namespaces: [a]}}], when: [{key: source.principal, notValues: [td/ns/a/sa/x]}]", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, w := range warnings(t, one("p", "rules: [{"+tt.rule+"}]"), inbounds()[:1], token.Demand{}) {
				if text, ok := strings.CutPrefix(w, "negative-without-identity spec.rules[0]."); ok {
					got = append(got, text)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got := warnings(t, one("p", "action: DENY, rules: [{"+tt.rule+"}]"), inbounds()[:1], token.Demand{}); len(got) > 0 {
				t.Errorf("a DENY: %q", got)
			}
		})
	}
}

// TestLintNames warns of a star behind a name where it lets in more, and of principals that are not whole.
func TestLintNames(t *testing.T) {
	t.Parallel()
	const (
		account = "the star also stands for the rest of a longer name, as in td/ns/a/sa/x-evil: write td/ns/a/sa/x"
		inside  = "the star also stands for the rest of a longer name, as in td/ns/a-evil: write td/ns/a/*"
		begin   = "the star also stands for the rest of a longer name, as in a-evil: write a"
	)
	for _, tt := range []struct{ source, allow, deny string }{
		{"principals: ['td/ns/a/sa/x*']", "prefix-inside-name principals[0]: " + account, ""},
		{"principals: [td/b, 'td/ns/a*']", "prefix-inside-name principals[1]: " + inside, ""},
		{"principals: ['*'], notPrincipals: ['td/ns/a*']", "", "prefix-inside-name notPrincipals[0]: " + inside},
		{"namespaces: ['a*']", "prefix-inside-name namespaces[0]: " + begin, ""},
		{"principals: ['*'], notNamespaces: ['a*']", "", "prefix-inside-name notNamespaces[0]: " + begin},
		{"principals: ['*', 'td/*', 'td/ns/a/*', '*/sa/x', td/a, 'td/ns/a-*']", "", ""},
		{"principals: ['*x']", "prefix-inside-name principals[0]: the star also stands for the beginning of a longer name, as in evil-x: write */sa/x", ""},
		{"principals: ['*a/sa/x']", "prefix-inside-name principals[0]: the star also stands for the beginning of a longer name, as in evil-a/sa/x: put a slash in front of the name", ""},
		{"principals: ['*td/ns/a/sa/x', '*a/ns/b/sa/x']", "prefix-inside-name principals[0]: the star also stands for the beginning of a longer name, as in evil-td/ns/a/sa/x: write the whole trust domain, without the star; prefix-inside-name principals[1]: the star also stands for the beginning of a longer name, as in evil-a/ns/b/sa/x: write the whole trust domain, without the star", ""},
		{"namespaces: ['*a', '*-a', '*a*']", "prefix-inside-name namespaces[0]: the star also stands for the beginning of a longer name, as in evil-a: write a", ""},
		{"principals: [cart]", "never-matches principals[0]: a principal is a whole name: write cluster.local/ns/NAMESPACE/sa/cart, with the trust domain of the mesh",
			"never-matches principals[0]: a principal is a whole name: write cluster.local/ns/NAMESPACE/sa/cart, with the trust domain of the mesh"},
		{"principals: ['system:serviceaccount:a:x']", "never-matches principals[0]: this is how Kubernetes names an account: write cluster.local/ns/a/sa/x, with the trust domain of the mesh",
			"never-matches principals[0]: this is how Kubernetes names an account: write cluster.local/ns/a/sa/x, with the trust domain of the mesh"},
		{"principals: [ns/a/sa/x]", "never-matches principals[0]: a principal begins with the trust domain of the mesh: write cluster.local/ns/a/sa/x",
			"never-matches principals[0]: a principal begins with the trust domain of the mesh: write cluster.local/ns/a/sa/x"},
	} {
		t.Run(tt.source, func(t *testing.T) {
			t.Parallel()
			for action, want := range map[string]string{"ALLOW": tt.allow, "DENY": tt.deny} {
				got := warnings(t, one("p", "action: "+action+", rules: [{from: [{source: {"+tt.source+"}}]}]"), inbounds()[:1], token.Demand{})
				if text := strings.ReplaceAll(strings.Join(got, "; "), "spec.rules[0].from[0].source.", ""); text != want {
					t.Errorf("%s: got %q, want %q", action, text, want)
				}
			}
		})
	}
}

// TestLintSplit warns where a policy that allows has a rule for callers and one for requests.
func TestLintSplit(t *testing.T) {
	t.Parallel()
	const (
		from = "{from: [{source: {principals: [td/a]}}]}"
		to   = "{to: [{operation: {methods: [PUT]}}]}"
		both = "{from: [{source: {principals: [td/a]}}], to: [{operation: {methods: [PUT]}}]}"
		when = "{to: [{operation: {methods: [PUT]}}], when: [{key: source.principal, values: [td/b]}]}"
	)
	for _, tt := range []struct {
		name, rules, field string
	}{
		{"apart", "rules: [" + from + ", " + to + "]", "split-rule spec.rules[1]"},
		{"a rule without conditions", "rules: [" + to + ", {}]", "rule-for-everybody spec.rules[1]"},
		{"a rule without conditions alone", "rules: [{}]", ""},
		{"a deny without conditions", "action: DENY, rules: [" + to + ", {}]", ""},
		{"the other way", "rules: [" + to + ", " + from + "]", "split-rule spec.rules[0]"},
		{"together", "rules: [" + both + "]", ""},
		{"callers alone", "rules: [" + from + ", " + both + "]", ""},
		{"requests alone", "rules: [" + to + ", " + both + "]", ""},
		{"callers in a condition", "rules: [" + from + ", " + when + "]", ""},
		{"a deny", "action: DENY, rules: [" + from + ", " + to + "]", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got string
			for _, w := range warnings(t, one("p", tt.rules), inbounds()[:1], token.Demand{}) {
				got, _, _ = strings.Cut(w, ":")
			}
			if got != tt.field {
				t.Errorf("got %q, want %q", got, tt.field)
			}
		})
	}
}

// TestLintPaths says which paths no request has behind a listener that normalizes them.
func TestLintPaths(t *testing.T) {
	t.Parallel()
	const none, base, merged, decoded = authorization.None, authorization.Base, authorization.MergeSlashes, authorization.DecodeAndMergeSlashes
	for path, rewrites := range map[string][]authorization.Normalization{
		"/a/../b": {base, merged, decoded}, "/a/./*": {base, merged, decoded}, "*/../b": {base, merged, decoded}, "/%41": {base, merged, decoded}, `/a\b`: {base, merged, decoded},
		"//a": {merged, decoded}, "/a//*": {merged, decoded}, "*//a": {merged, decoded}, "/a%2Fb": {decoded}, "/a%2f*": nil, "/a/..*": nil, "*../b": nil, "/a%2*": nil, "/a": nil, "*": nil,
		"/%00": {base, merged, decoded}, "/a/..;x/b": nil,
	} {
		for _, n := range []authorization.Normalization{none, base, merged, decoded} {
			of := options
			of.Normalization = n
			rule := "action: DENY, rules: [{to: [{operation: {paths: ['" + path + "']}}]}]"
			got := slices.ContainsFunc(authorization.Lint(parseAll(t, one("p", rule)), inbounds()[:1], of, func(policy.Inbound) (none token.Demand) { return }), func(w policy.Warning) bool {
				return w.Kind == warning.NeverMatches
			})
			if want := slices.Contains(rewrites, n); got != want {
				t.Errorf("%s with the normalization %s: warned is %t, want %t", path, n, got, want)
			}
		}
	}
}

func TestLintAmbient(t *testing.T) {
	t.Parallel()
	in := inbounds()[:1]
	in[0].Workload.Labels = map[string]string{"istio.io/dataplane-mode": "ambient"}
	got := warnings(t, one("audit", "action: AUDIT, rules: [{}]")+
		strings.Replace(one("trial", "action: DENY, rules: [{}]"), "name: trial", `name: trial, annotations: {istio.io/dry-run: "true"}`, 1)+
		one("alias", "rules: [{from: [{source: {principals: [td/ns/a/sa/x]}}]}]")+
		one("allow", "rules: [{to: [{operation: {methods: [GET]}}]}]")+
		one("deny", "action: DENY, rules: [{to: [{operation: {paths: [/a]}}]}, {from: [{source: {namespaces: [b]}}], to: [{operation: {paths: [/a]}}]}]"), in, token.Demand{})
	want := []string{
		"not-in-ambient spec.action: ztunnel knows no AUDIT, and leaves the policy out",
		"not-in-ambient metadata.annotations: ztunnel knows no dry run, and leaves the policy out",
		"not-in-ambient spec.rules[0].from[0].source.principals: ztunnel knows no aliases of trust domains: name each of them",
		"not-in-ambient spec.rules[0].to[0].operation.methods: ztunnel does not know the field: it leaves the whole rule out, and it allows nothing",
		"not-in-ambient spec.rules[0].to[0].operation.paths: ztunnel does not know the field: the rule has no effect there",
		"not-in-ambient spec.rules[1].to[0].operation.paths: ztunnel does not know the field: it leaves it out, and the rule matches more",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
