package suite

import (
	"context"
	"testing"

	matcherv3 "github.com/cncf/xds/go/xds/type/matcher/v3"
	networkrbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/rbac/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/internal/envoy"
	"github.com/meshproof/meshproof/internal/testbed"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/dialect"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
	"github.com/meshproof/meshproof/xds"
)

// sharedEnvoy is the one Envoy of all tests that leave it as it was.
var sharedEnvoy = testbed.Bed[*harness.Harness]{Start: func() (*harness.Harness, error) {
	return harness.Start(context.Background(), harness.WithRuntime(envoy.Process))
}}

func TestMain(m *testing.M) { sharedEnvoy.Main(m) }

// The head of most cases: the frontend gets into the backend, and no other caller does.
const (
	frontend = "spiffe://trust-domain.mesh/ns/default/sa/frontend"
	intruder = "spiffe://trust-domain.mesh/ns/default/sa/intruder"
	friends  = "kri_mtp_default___friends_"
	head     = `
case: friends only
workloads: [{name: backend, inbounds: [{name: http-port, port: 8080}, {name: tcp-port, port: 5432, protocol: tcp}]}]
policies:
  - {type: MeshTrafficPermission, name: friends, spec: {default: {allow: [{spiffeId: {type: Exact, value: ` + frontend + `}}]}}}
`
	// In shadowed the frontend gets in, on notice.
	shadowed = `
case: friends on notice
workloads: [{name: backend, inbounds: [{name: http-port, port: 8080}, {name: tcp-port, port: 5432, protocol: tcp}]}]
policies:
  - {type: MeshTrafficPermission, name: friends, spec: {default: {allowWithShadowDeny: [{spiffeId: {type: Exact, value: ` + frontend + `}}]}}}
`
	// In grpc the frontend may list.
	grpc = `
case: friends may list
workloads: [{name: backend, inbounds: [{name: grpc-port, port: 9090, protocol: grpc, mtls: permissive}]}]
policies:
  - type: MeshTrafficPermission
    name: friends
    spec: {default: {allow: [{spiffeId: {type: Exact, value: ` + frontend + `}, path: {type: Exact, value: /orders.Orders/List}}]}}
`
	// In precise the intruder gets in for good.
	precise = `
case: friends and others
options: {shadowForm: precise}
workloads: [{name: backend, inbounds: [{name: http-port, port: 8080}]}]
policies:
  - type: MeshTrafficPermission
    name: friends
    spec: {default: {allow: [{spiffeId: {type: Exact, value: ` + intruder + `}}], allowWithShadowDeny: [{spiffeId: {type: Exact, value: ` + frontend + `}}]}}
`
)

// altered compiles what the policies come to, changed on the way.
func altered(change func(*policy.Program)) Compiler {
	return CompilerFunc(func(_ context.Context, in policy.Inbound, policies []manifest.Document, opts language.Options) (xds.Filters, error) {
		set, err := dialect.Parse(policies, opts)
		if err != nil {
			return xds.Filters{}, err
		}
		program := set.Program(in).Program
		change(&program)
		return xds.Compile(program)
	})
}

// spoilt compiles tcp inbounds to a filter that is well formed and that Envoy
// refuses: its regular expression does not parse.
var spoilt Compiler = CompilerFunc(func(ctx context.Context, in policy.Inbound, policies []manifest.Document, opts language.Options) (xds.Filters, error) {
	f, err := CompileOne(ctx, Reference, in, policies, opts)
	if err != nil || in.Protocol != policy.TCP {
		return f, err
	}
	filter := proto.CloneOf(f.Network[0])
	filter.Matcher.GetMatcherList().Matchers[0].Predicate.GetSinglePredicate().Matcher =
		&matcherv3.Matcher_MatcherList_Predicate_SinglePredicate_ValueMatch{ValueMatch: &matcherv3.StringMatcher{
			MatchPattern: &matcherv3.StringMatcher_SafeRegex{SafeRegex: &matcherv3.RegexMatcher{
				EngineType: &matcherv3.RegexMatcher_GoogleRe2{GoogleRe2: &matcherv3.RegexMatcher_GoogleRE2{}}, Regex: "(",
			}},
		}}
	return xds.Filters{Network: []*networkrbacv3.RBAC{filter}}, nil
})
