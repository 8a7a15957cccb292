package suite

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	matcherv3 "github.com/cncf/xds/go/xds/type/matcher/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	httprbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	networkrbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/rbac/v3"
	exprv1 "google.golang.org/genproto/googleapis/api/expr/v1alpha1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
	"github.com/meshproof/meshproof/xds"
)

// accounts is a case of GEP-3779, whose filters are rules with names: the form that most
// compilers write. The frontend gets in on both ports.
const accounts = `
case: the frontend gets in
workloads: [{name: backend, namespace: shop, labels: {app: backend}, inbounds: [{name: http-port, port: 8080}, {name: tcp-port, port: 5432, protocol: tcp}, {name: open-port, port: 8081, mtls: permissive}]}]
policies:
  - apiVersion: gateway.networking.x-k8s.io/v1alpha1
    kind: XAuthorizationPolicy
    metadata: {name: friends, namespace: shop}
    spec:
      targetRefs: [{kind: Pod, selector: {matchLabels: {app: backend}}}]
      action: ALLOW
      enforcementLevel: Network
      rules: [{sources: [{type: SPIFFE, spiffe: ` + frontend + `}]}]
requests:
  - {from: ` + frontend + `, to: [backend/http-port, backend/tcp-port, backend/open-port], want: allow}
  - {from: ` + intruder + `, to: [backend/http-port, backend/tcp-port, backend/open-port], want: deny}
`

// principal returns a change of filters that lets in another principal, given as JSON.
func principal(text string) func(*xds.Filters) {
	p := &rbacv3.Principal{}
	if err := protojson.Unmarshal([]byte(text), p); err != nil {
		panic(err)
	}
	return eachPolicy(func(of *rbacv3.Policy) { of.Principals = append(of.Principals, p) })
}

// eachPolicy returns a change of all network policies.
func eachPolicy(change func(*rbacv3.Policy)) func(*xds.Filters) {
	return func(f *xds.Filters) {
		for _, filter := range f.Network {
			for _, p := range filter.Rules.GetPolicies() {
				change(p)
			}
		}
	}
}

func permissionOf(text string) *rbacv3.Permission {
	p := &rbacv3.Permission{}
	if err := protojson.Unmarshal([]byte(text), p); err != nil {
		panic(err)
	}
	return p
}

// addPolicy returns a change that adds a policy: everybody gets in who has the permission.
func addPolicy(text string) func(*xds.Filters) {
	return func(f *xds.Filters) {
		f.Network[0].Rules.Policies["back door"] = &rbacv3.Policy{
			Permissions: []*rbacv3.Permission{permissionOf(text)},
			Principals:  []*rbacv3.Principal{{Identifier: &rbacv3.Principal_Any{Any: true}}},
		}
	}
}

// bent is meshproof's own compiler with changed filters.
func bent(change func(*xds.Filters)) Compiler {
	return &Foreign{CompilerFunc: func(ctx context.Context, in policy.Inbound, docs []manifest.Document, opts language.Options) (xds.Filters, error) {
		f, err := CompileOne(ctx, Reference, in, docs, opts)
		for i, filter := range f.Network {
			f.Network[i] = proto.CloneOf(filter)
		}
		if err == nil {
			change(&f)
		}
		if in.Protocol == policy.TCP {
			f.HTTP, f.Routes = nil, nil
		}
		return f, err
	}}
}

// httpRBAC returns a change that adds an HTTP filter, given as JSON, to the inbounds of HTTP.
func httpRBAC(text string) func(*xds.Filters) {
	filter := &httprbacv3.RBAC{}
	if err := protojson.Unmarshal([]byte(text), filter); err != nil {
		panic(err)
	}
	return func(f *xds.Filters) { f.HTTP = append(f.HTTP, proto.CloneOf(filter)) }
}

// everybody returns a matcher that allows every caller.
func everybody(t *testing.T) *matcherv3.Matcher {
	f, err := xds.Compile(policy.Program{Gates: []policy.Gate{orderedGate(policy.L4, policy.Allow)}})
	if err != nil {
		t.Fatal(err)
	}
	return f.Network[0].Matcher
}

// Each of these compilers passes the requests of the case, and is wrong about others. None is
// conformant.
func TestForeignFiltersAreReadBack(t *testing.T) {
	t.Parallel()
	metadata := `{"filter": "x", "path": [{"key": "y"}], "value": {"presentMatch": true}}`
	for name, tt := range map[string]struct {
		change func(*xds.Filters)
		kind   error
		want   string
	}{
		"another identity":                 {principal(`{"authenticated": {"principalName": {"exact": "spiffe://trust-domain.mesh/ns/evil/sa/x"}}}`), ErrDiffers, "ns/evil/sa/x"},
		"an identity of no trusted domain": {principal(`{"authenticated": {"principalName": {"exact": "spiffe://evil.example/ns/a/sa/x"}}}`), ErrDiffers, "spiffe://evil.example/ns/a/sa/x"},
		"all identities of a prefix":       {principal(`{"authenticated": {"principalName": {"prefix": "spiffe://trust-domain.mesh/ns/evil/"}}}`), ErrDiffers, "ns/evil/"},
		"a DNS name":                       {principal(`{"authenticated": {"principalName": {"exact": "backdoor.example"}}}`), ErrDiffers, "backdoor.example"},
		"identities of a regex":            {principal(`{"authenticated": {"principalName": {"safeRegex": {"googleRe2": {}, "regex": "spiffe://[^/]+/ns/[a-z]+/sa/bd[0-9]{6}"}}}}`), nil, "a URI SAN matches the regex"},
		"identities with a suffix":         {principal(`{"authenticated": {"principalName": {"suffix": "/sa/backdoor"}}}`), nil, ""},
		"identities that contain a word":   {principal(`{"authenticated": {"principalName": {"contains": "backdoor"}}}`), nil, ""},
		"an identity in any case":          {principal(`{"authenticated": {"principalName": {"exact": "spiffe://trust-domain.mesh/ns/default/sa/FRONTEND", "ignoreCase": true}}}`), nil, ""},
		"everybody but the intruder":       {principal(`{"notId": {"authenticated": {"principalName": {"exact": "` + intruder + `"}}}}`), ErrDiffers, ""},
		"a remote address":                 {principal(`{"remoteIp": {"addressPrefix": "203.0.113.0", "prefixLen": 24}}`), ErrDiffers, "from 203.0.113.1"},
		"a direct remote address":          {principal(`{"directRemoteIp": {"addressPrefix": "203.0.113.0", "prefixLen": 24}}`), ErrDiffers, "source address 203.0.113.0/24"},
		"everybody outside the lab":        {principal(`{"notId": {"remoteIp": {"addressPrefix": "10.0.0.0", "prefixLen": 8}}}`), ErrDiffers, "source address"},
		"a source address":                 {principal(`{"sourceIp": {"addressPrefix": "8.8.8.8", "prefixLen": 32}}`), ErrDiffers, "8.8.8.8"},
		"an address of IPv6":               {principal(`{"directRemoteIp": {"addressPrefix": "2001:db8::", "prefixLen": 32}}`), ErrDiffers, "from 2001:db8::1"},
		"dynamic metadata":                 {principal(`{"metadata": ` + metadata + `}`), ErrUnread, "metadata"},
		"metadata of a source":             {principal(`{"sourcedMetadata": {"metadataMatcher": ` + metadata + `}}`), ErrUnread, "sourced_metadata"},
		"a filter state":                   {principal(`{"filterState": {"key": "x", "stringMatch": {"exact": "y"}}}`), ErrUnread, "filter_state"},
		"a destination address":            {addPolicy(`{"destinationIp": {"addressPrefix": "10.9.9.9", "prefixLen": 32}}`), ErrUnread, "destination address 10.9.9.9"},
		"callers without TLS":              {principal(`{"notId": {"authenticated": {}}}`), ErrDiffers, "plaintext"},
		"a server name":                    {addPolicy(`{"requestedServerName": {"exact": "backdoor.example"}}`), ErrDiffers, "sni backdoor.example"},
		"a port range":                     {addPolicy(`{"destinationPortRange": {"start": 1, "end": 65535}}`), ErrDiffers, ""},
		"a condition in CEL": {eachPolicy(func(p *rbacv3.Policy) {
			p.Condition = &exprv1.Expr{ExprKind: &exprv1.Expr_ConstExpr{ConstExpr: &exprv1.Constant{ConstantKind: &exprv1.Constant_BoolValue{BoolValue: true}}}}
		}), ErrUnread, "CEL"},
		"an answer only where it is dark": {func(f *xds.Filters) { f.Network[0].Rules.Action = rbacv3.RBAC_LOG }, nil, ""},
		"a shadow instead of a filter":    {func(f *xds.Filters) { f.Network[0].ShadowRules, f.Network[0].Rules = f.Network[0].Rules, nil }, nil, ""},
		"every part of a connection":      {func(f *xds.Filters) { f.Network[0].EnforcementType = networkrbacv3.RBAC_CONTINUOUS }, nil, "counters"},
		"a filter that observes, and an open one": {func(f *xds.Filters) {
			f.Network = append(f.Network, &networkrbacv3.RBAC{Rules: &rbacv3.RBAC{Policies: map[string]*rbacv3.Policy{"x": {
				Permissions: []*rbacv3.Permission{permissionOf(`{"any": true}`)}, Principals: []*rbacv3.Principal{{Identifier: &rbacv3.Principal_Any{Any: true}}}}}}})
			f.Network[0].ShadowRules, f.Network[0].Rules = f.Network[0].Rules, nil
		}, nil, "the policies say deny"},
		"a matcher beside the rules":   {func(f *xds.Filters) { f.Network[0].Matcher = everybody(t) }, nil, ""},
		"an HTTP filter with a header": {httpRBAC(`{"rules": {"action": "DENY", "policies": {"x": {"permissions": [{"header": {"name": "x-debug", "presentMatch": true}}], "principals": [{"any": true}]}}}}`), ErrDiffers, "x-debug"},
		"an HTTP filter with a path":   {httpRBAC(`{"rules": {"action": "DENY", "policies": {"x": {"permissions": [{"urlPath": {"path": {"exact": "/x"}}}], "principals": [{"any": true}]}}}}`), ErrDiffers, "/x"},
		"a route with a header": {func(f *xds.Filters) {
			httpRBAC(`{"rules": {"action": "ALLOW", "policies": {"x": {"permissions": [{"any": true}], "principals": [{"any": true}]}}}}`)(f)
			f.Routes = []xds.Route{{Name: "x", Match: &routev3.RouteMatch{
				PathSpecifier: &routev3.RouteMatch_Prefix{Prefix: "/"}, Headers: []*routev3.HeaderMatcher{{Name: "x-debug"}},
			}, HTTP: []*httprbacv3.RBAC{{Rules: &rbacv3.RBAC{}}}}}
		}, ErrDiffers, "x-debug"},
		"an HTTP filter with a method": {httpRBAC(`{"rules": {"action": "DENY", "policies": {"x": {"permissions": [{"header": {"name": ":method", "stringMatch": {"exact": "PURGE"}}}], "principals": [{"any": true}]}}}}`), ErrDiffers, "PURGE"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := Runner{Harness: sharedEnvoy.Get(t), Compiler: bent(tt.change), AnyNames: true}.Case(t.Context(), casetest.Parse(t, accounts))
			if r.Passed() || r.Fault {
				t.Fatalf("passed %t, fault %t: %v", r.Passed(), r.Fault, r.Err)
			}
			if tt.kind != nil && !errors.Is(r.Err, tt.kind) || !strings.Contains(strings.Join(r.Failures(), "\n"), tt.want) {
				t.Errorf("%v\nwant %v of %s", r.Failures(), tt.kind, tt.want)
			}
		})
	}
}

// Envoy sees the lab as the peer of each connection. A filter that asks for the peer is asked for
// the remote address, and the result says so.
func TestPlayedPeerIsNoted(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		principal string
		notes     int
	}{
		{`{"directRemoteIp": {"addressPrefix": "10.255.255.254", "prefixLen": 32}}`, 3},
		{`{"remoteIp": {"addressPrefix": "10.255.255.254", "prefixLen": 32}}`, 0},
	} {
		r := Runner{Harness: sharedEnvoy.Get(t), Compiler: bent(principal(tt.principal)), AnyNames: true}.Case(t.Context(), casetest.Parse(t, accounts))
		notes := 0
		for _, note := range r.Notes {
			if strings.Contains(note, ": the lab asks for the remote address") {
				notes++
			}
		}
		if notes != tt.notes || r.Passed() {
			t.Errorf("%s: passed %t, notes %q", tt.principal, r.Passed(), r.Notes)
		}
	}
}

// A compiler may look at all names of a caller as one text where the policies look at each of
// them, or the other way round. It is right about callers with one name alone, and Envoy shows it.
func TestSeveralNames(t *testing.T) {
	t.Parallel()
	joined := namedGate(policy.L4, policy.Deny, ruled(policy.Allow, "x", attribute.Identity.Exact(frontend)))
	joined.Form = policy.Ordered
	each := namedGate(policy.L4, policy.Deny, ruled(policy.Allow, "x", attribute.URISAN.Exact(frontend)))
	const connections = `
case: friends only
workloads: [{name: backend, inbounds: [{name: tcp-port, port: 5432, protocol: tcp}]}]
policies: [{type: MeshTrafficPermission, name: friends, spec: {default: {allow: [{spiffeId: {type: Exact, value: ` + frontend + `}}]}}}]
requests: [{from: ` + frontend + `, to: backend/tcp-port, want: allow}]
`
	for name, tt := range map[string]struct {
		text string
		gate policy.Gate
	}{
		"policies of each name, filters of all":  {accounts, joined},
		"policies of all names, filters of each": {connections, each},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			compiler := &Foreign{CompilerFunc: func(context.Context, policy.Inbound, []manifest.Document, language.Options) (xds.Filters, error) {
				return xds.Compile(policy.Program{Gates: []policy.Gate{tt.gate}})
			}}
			r := Runner{Harness: sharedEnvoy.Get(t), Compiler: compiler, AnyNames: true}.Case(t.Context(), casetest.Parse(t, tt.text))
			if failures := strings.Join(r.Failures(), "\n"); !errors.Is(r.Err, ErrDiffers) || errors.Is(r.Err, ErrUnread) || !strings.Contains(failures, "callers with several names: the policies say ") {
				t.Errorf("%s\n%+v", failures, r.Examination)
			}
		})
	}
}

// An honest compiler passes, in either form, and the examination says what was asked.
func TestHonestForeignFilters(t *testing.T) {
	t.Parallel()
	for _, text := range []string{accounts, head + "requests: [{from: " + frontend + ", to: backend/http-port, want: allow}]", shadowed + "requests: [{from: " + frontend + ", to: backend/tcp-port, want: allow}]"} {
		r := Runner{Harness: sharedEnvoy.Get(t), Compiler: bent(func(*xds.Filters) {})}.Case(t.Context(), casetest.Parse(t, text))
		if !r.Passed() || r.Examination == nil || r.Examination.Asked == 0 || r.Examination.Classes == 0 {
			t.Errorf("%s: %v, %+v", r.Case.Name, r.Failures(), r.Examination)
		}
	}
	// A filter that only logs decides nothing.
	audited := bent(func(f *xds.Filters) {
		logs := proto.CloneOf(f.Network[0])
		logs.Rules.Action = rbacv3.RBAC_LOG
		f.Network = append([]*networkrbacv3.RBAC{logs}, f.Network...)
		of := xds.Filters{Network: f.Network[:1]}
		principal(`{"remoteIp": {"addressPrefix": "203.0.113.0", "prefixLen": 24}}`)(&of)
	})
	if r := (Runner{Harness: sharedEnvoy.Get(t), Compiler: audited}).Case(t.Context(), casetest.Parse(t, accounts)); !r.Passed() {
		t.Error(strings.Join(r.Failures(), "\n"))
	}
	if r := (Runner{Harness: sharedEnvoy.Get(t)}).Case(t.Context(), casetest.Parse(t, accounts)); r.Examination != nil {
		t.Error("meshproof's own filters are read back")
	}
}

// No dialect owns this policy. A compiler that knows it is held against what the case wants.
func TestCaseWithPoliciesOfNoDialect(t *testing.T) {
	t.Parallel()
	const text = `
case: a policy of another mesh
options: {othermesh: {root: x}}
workloads: [{name: backend, inbounds: [{name: http-port, port: 8080}, {name: tcp-port, port: 5432, protocol: tcp}]}, {name: web, labels: {app: web}}]
policies: [{apiVersion: other.mesh/v1, kind: Gate, spec: {}}]
requests:
  - {from: web, to: [backend/http-port, backend/tcp-port], want: allow}
  - {from: ` + intruder + `, to: [backend/http-port, backend/tcp-port], want: `
	web := attribute.URISAN.Exact("spiffe://trust-domain.mesh/ns/default/sa/web")
	var asked language.Options
	compiler := &Foreign{CompilerFunc: func(_ context.Context, in policy.Inbound, docs []manifest.Document, opts language.Options) (xds.Filters, error) {
		asked = opts
		gate := namedGate(policy.L4, policy.Deny, ruled(policy.Allow, "web", web))
		return xds.Compile(policy.Program{Gates: []policy.Gate{gate, gate}})
	}}
	for want, passes := range map[string]bool{"deny}": true, "allow}": false} {
		c := casetest.Parse(t, text+want)
		r := Runner{Harness: sharedEnvoy.Get(t), Compiler: compiler, Parallel: 1, Read: verdict.ReadForeign}.Case(t.Context(), c)
		if r.Passed() != passes || r.Fault || !strings.Contains(r.WantsOnly, `kind "Gate"`) || len(r.Notes) == 0 || r.Examination != nil {
			t.Errorf("%s: passed %t: %v, %q, %q", want, r.Passed(), r.Failures(), r.WantsOnly, r.Notes)
		}
		if r := (Runner{Harness: sharedEnvoy.Get(t), Compiler: compiler}).Case(t.Context(), c); r.Err == nil || !strings.Contains(r.Err.Error(), "is unknown: the known kinds are") {
			t.Errorf("without a compiler: %v", r.Err)
		}
	}
	if len(asked.Peers) != 2 || asked.Peers[1].Workload.Labels["app"] != "web" || !slices.Equal(asked.Document.Keys(), []string{"othermesh"}) {
		t.Errorf("the compiler was told %+v", asked)
	}
}

// A case may expect that no dialect owns its policies, and it may count by the plain names of
// policies. Both hold for another compiler too, which refuses in words of its own.
func TestHonestForeignCompilerOfStories(t *testing.T) {
	t.Parallel()
	honest := &Foreign{CompilerFunc: func(ctx context.Context, in policy.Inbound, docs []manifest.Document, opts language.Options) (xds.Filters, error) {
		f, err := ownCompiler(ctx, in, docs, opts)
		if err != nil {
			err = errors.New("in other words")
		}
		return f, err
	}}
	accepting := &Foreign{CompilerFunc: func(context.Context, policy.Inbound, []manifest.Document, language.Options) (xds.Filters, error) {
		return xds.Filters{}, nil
	}}
	asked := 0
	for _, c := range casetest.Stories(t) {
		unknown := strings.HasSuffix(c.ExpectError, "is unknown") && len(c.Inbounds) == 0
		countsRules := slices.ContainsFunc(c.Counters, func(of cases.Counters) bool { return of.Rule != "" })
		if !unknown && !countsRules || len(c.Routing) > 0 {
			continue // No compiler of inbounds is asked about sidecars.
		}
		asked++
		if r := (Runner{Harness: sharedEnvoy.Get(t), Compiler: honest, Read: verdict.ReadForeign}).Case(t.Context(), c); !r.Passed() {
			t.Errorf("%s: %v", c.Name, r.Failures())
		}
		if r := (Runner{Harness: sharedEnvoy.Get(t), Compiler: accepting, Read: verdict.ReadForeign}).Case(t.Context(), c); r.Passed() {
			t.Errorf("%s: a compiler without filters passes", c.Name)
		}
	}
	if asked < 5 {
		t.Errorf("%d cases", asked)
	}
}

// What stands under the key of another dialect is for the compiler, and does not change how the
// policies are read.
func TestOptionsOfOtherDialects(t *testing.T) {
	t.Parallel()
	c := casetest.Parse(t, strings.Replace(accounts, "workloads:", "options: {othermesh: {root: x}}\nworkloads:", 1))
	r := Runner{Harness: sharedEnvoy.Get(t), Compiler: &Foreign{CompilerFunc: func(ctx context.Context, in policy.Inbound, docs []manifest.Document, opts language.Options) (xds.Filters, error) {
		if _, ok := opts.Document.Lookup("othermesh.root"); !ok {
			t.Error("the option did not arrive")
		}
		opts.Document = opts.Document.WithoutKey("othermesh")
		return CompileOne(ctx, Reference, in, docs, opts)
	}}, Read: verdict.ReadForeign}.Case(t.Context(), c)
	if !r.Passed() || r.WantsOnly != "" || r.Examination == nil {
		t.Errorf("%v, wants only %q", r.Failures(), r.WantsOnly)
	}
	if r := (Runner{Harness: sharedEnvoy.Get(t)}).Case(t.Context(), c); r.Err == nil || !strings.Contains(r.Err.Error(), "only another compiler can read it") {
		t.Errorf("meshproof's own compiler: %v", r.Err)
	}
}

// A refusal that comes late is a note, and no failure.
func TestLateRefusals(t *testing.T) {
	t.Parallel()
	late := bent(func(f *xds.Filters) { f.Network[0].DelayDeny = durationpb.New(100 * time.Millisecond) })
	r := Runner{Harness: sharedEnvoy.Get(t), Compiler: late}.Case(t.Context(), casetest.Parse(t, accounts))
	if notes := strings.Join(r.Notes, "\n"); !r.Passed() || !strings.Contains(notes, "backend/tcp-port refuses late: network[0].delay_deny is 100ms, and the slowest refusal took 0.") {
		t.Errorf("%v\n%s", r.Failures(), notes)
	}
}

// Envoy refuses the filters, as the case expects. There is nothing to read back then.
func TestForeignFiltersThatEnvoyRefuses(t *testing.T) {
	t.Parallel()
	c := casetest.Parse(t, head+"expectError: missing\n")
	bad := &Foreign{CompilerFunc: func(ctx context.Context, in policy.Inbound, docs []manifest.Document, opts language.Options) (xds.Filters, error) {
		return CompileOne(ctx, spoilt, in, docs, opts)
	}}
	if r := (Runner{Harness: sharedEnvoy.Get(t), Compiler: bad}).Case(t.Context(), c); !r.Passed() || r.Examination != nil {
		t.Errorf("%v, %+v", r.Failures(), r.Examination)
	}
	c.ExpectError = ""
	if r := (Runner{Harness: sharedEnvoy.Get(t), Compiler: bad}).Case(t.Context(), c); r.Passed() {
		t.Error("filters that Envoy refuses pass")
	}
}

// A case that holds on other versions of Envoy only hides no filters that cannot be read, or that
// decide otherwise.
func TestWrongFiltersOnAnotherVersion(t *testing.T) {
	t.Parallel()
	c := casetest.Parse(t, strings.Replace(accounts, "workloads:", "envoy: {before: 1.36.0}\nworkloads:", 1))
	for text, want := range map[string]error{
		`{"filterState": {"key": "x", "stringMatch": {"exact": "y"}}}`:                            ErrUnread,
		`{"authenticated": {"principalName": {"exact": "spiffe://trust-domain.mesh/ns/e/sa/x"}}}`: ErrDiffers,
	} {
		r := Runner{Harness: sharedEnvoy.Get(t), Compiler: bent(principal(text)), AnyNames: true}.Case(t.Context(), c)
		if !r.Failed() || !errors.Is(r.Err, want) {
			t.Errorf("%s: skipped %q: %v", text, r.Skipped, r.Err)
		}
	}
}
