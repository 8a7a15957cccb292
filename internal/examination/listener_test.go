package examination_test

import (
	"slices"
	"strings"
	"testing"

	httprbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshproof/meshproof/internal/authorizer"
	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/examination"
	"github.com/meshproof/meshproof/internal/mtls"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

const asked = `
case: an authorizer, certificates and plain paths
options: {istio: {normalization: MERGE_SLASHES, extensionProviders: [{name: opa, envoyExtAuthzGrpc: {service: opa.svc, port: 1, statusOnError: "503"}}]}}
workloads: [{name: backend, namespace: default, inbounds: [{name: http-port, port: 8080}]}]
policies:
  - {apiVersion: security.istio.io/v1, kind: PeerAuthentication, metadata: {name: all, namespace: default}, spec: {mtls: {mode: STRICT}}}
  - {apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: ask}, spec: {action: CUSTOM, provider: {name: opa}, rules: [{to: [{operation: {paths: [/pay]}}]}]}}
requests: [{from: anonymous, to: backend/http-port, want: handshake-failure}]
`

// TestListenerApart holds what a compiler says of callers, paths and authorizers against the
// policies: each mistake is named, or is a class that is decided otherwise.
func TestListenerApart(t *testing.T) {
	t.Parallel()
	reading, err := verdict.Read(casetest.Parse(t, asked))
	if err != nil {
		t.Fatal(err)
	}
	program := reading.Inbounds()[0].Program.Program
	merges := policy.PathNormalization{EscapedSlashes: policy.KeepEscapedSlashes}
	opa := authorizer.Authorizer{Provider: "opa", StatusOnError: 503}
	for name, tt := range map[string]struct {
		change func(*xds.Filters)
		unread string
		differ bool
	}{
		"the same":              {func(f *xds.Filters) { f.MTLS, f.Normalization = mtls.Strict, &merges }, "", false},
		"nothing said":          {func(f *xds.Filters) { f.MTLS = mtls.Unset }, "and the compiler says nothing of it", false},
		"plaintext too":         {func(f *xds.Filters) { f.MTLS = mtls.Permissive }, "mtls of the inbound is permissive, want strict", false},
		"raw paths":             {func(f *xds.Filters) { f.Normalization = &policy.PathNormalization{Raw: true} }, "normalizes paths otherwise", false},
		"nobody is asked":       {func(f *xds.Filters) { f.HTTPAsks = nil }, "", true},
		"another is asked":      {func(f *xds.Filters) { f.HTTPAsks[0] = authorizer.Authorizer{Provider: "own"} }, `ask the authorizer "own", and the policies do not`, false},
		"errors pass":           {func(f *xds.Filters) { a := opa; a.FailOpen = true; f.HTTPAsks[0] = a }, `ask the authorizer "opa" otherwise`, false},
		"another server":        {func(f *xds.Filters) { a := f.HTTPAsks[0]; a.Cluster = "outbound|1||evil"; f.HTTPAsks[0] = a }, `behind the cluster "outbound|1||evil"`, false},
		"another host":          {func(f *xds.Filters) { a := f.HTTPAsks[0]; a.Authority = "evil"; f.HTTPAsks[0] = a }, `for the host "evil"`, false},
		"another status":        {func(f *xds.Filters) { f.HTTPAsks[0] = authorizer.Authorizer{Provider: "opa"} }, `ask the authorizer "opa" otherwise`, false},
		"asked about no path":   {func(f *xds.Filters) { clear(f.HTTP[0].ShadowRules.Policies) }, "", true},
		"and it denies as well": {func(f *xds.Filters) { f.HTTP[0].Rules = f.HTTP[0].ShadowRules }, "does more than to say what is asked about", false},
		"by a rule that does not ask": {func(f *xds.Filters) {
			rules := f.HTTP[0].ShadowRules.Policies
			for name, rule := range rules {
				delete(rules, name)
				rules["other"] = rule
			}
		}, "not for this one", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			filters, err := xds.Compile(program)
			if err != nil {
				t.Fatal(err)
			}
			filters.HTTP = slices.Clone(filters.HTTP)
			filters.HTTP[0] = proto.CloneOf[*httprbacv3.RBAC](filters.HTTP[0])
			filters.MTLS = mtls.Strict
			tt.change(&filters)
			x := examination.Examine(reading, []xds.Filters{filters}, true, 0)
			got := strings.Join(x.Unread, "; ")
			if (got == "") != (tt.unread == "") || !strings.Contains(got, tt.unread) || x.Differing > 0 != tt.differ {
				t.Errorf("got %q and %d classes that differ, want %q", got, x.Differing, tt.unread)
			}
		})
	}
}

// Policies that say nothing of callers and paths leave mTLS strict and paths normalized, unless the
// case states it: then a compiler is not told.
func TestListenerOfSilentPolicies(t *testing.T) {
	t.Parallel()
	raw, permissive := func(f *xds.Filters) { f.Normalization = &policy.PathNormalization{Raw: true} }, func(f *xds.Filters) { f.MTLS = mtls.Permissive }
	for name, tt := range map[string]struct {
		replace, replacement string
		change               func(*xds.Filters)
		apart                bool
	}{
		"strict and normalized": {"", "", func(f *xds.Filters) { f.MTLS, f.Normalization = mtls.Strict, &policy.PathNormalization{} }, false},
		"plaintext too":         {"", "", permissive, true},
		"plaintext alone":       {"", "", func(f *xds.Filters) { f.MTLS = mtls.Disable }, true},
		"raw paths":             {"", "", raw, true},
		"the case states mtls":  {"port: 8080", "port: 8080, mtls: permissive", permissive, false},
		"the case states paths": {"workloads:", "options: {pathNormalization: {mergeSlashes: false}}\nworkloads:", raw, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reading, err := verdict.Read(casetest.Parse(t, strings.Replace(text, tt.replace, tt.replacement, 1)))
			if err != nil {
				t.Fatal(err)
			}
			filters, err := xds.Compile(reading.Inbounds()[0].Program.Program)
			if err != nil {
				t.Fatal(err)
			}
			tt.change(&filters)
			if x := examination.Examine(reading, []xds.Filters{filters}, true, 0); len(x.Unread) > 0 != tt.apart {
				t.Errorf("not verified: %q", x.Unread)
			}
		})
	}
}
