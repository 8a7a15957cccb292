package adversary_test

import (
	"context"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	corev3 "github.com/cncf/xds/go/xds/core/v3"
	matcherv3 "github.com/cncf/xds/go/xds/type/matcher/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	httprbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	envoymatcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"github.com/spiffe/go-spiffe/v2/spiffeid"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/harness/caller"
	"github.com/meshproof/meshproof/internal/adversary"
	"github.com/meshproof/meshproof/internal/envoy"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/xds"
)

// The origins of the verdicts.
const (
	protected     = "protected"
	unprotected   = "rest"
	defaultOrigin = "default"
)

func compile(t *testing.T, gates ...policy.Gate) xds.Filters {
	t.Helper()
	return must(xds.Compile(policy.Program{Gates: gates}))(t)
}

// denyGate denies the condition and allows everything else.
func denyGate(layer policy.Layer, when policy.Condition) policy.Gate {
	return policy.Gate{Layer: layer, Rules: []policy.Rule{
		{Verdict: policy.Verdict{Effect: policy.Deny, Origin: protected}, When: when},
		{Verdict: policy.Verdict{Effect: policy.Allow, Origin: unprotected}, When: policy.Always},
	}}
}

// allowGate allows the condition and nothing else.
func allowGate(layer policy.Layer, when policy.Condition) policy.Gate {
	return policy.Gate{Layer: layer, Default: policy.Verdict{Origin: defaultOrigin}, Rules: []policy.Rule{
		{Verdict: policy.Verdict{Effect: policy.Allow, Origin: protected}, When: when},
	}}
}

// The columns of the two tables of requests.
var (
	requestColumns = []string{"deny-path", "deny-method", "allow-both"}
	headerColumns  = []string{"matcher-deny", "matcher-allow", "rules-deny", "rules-allow"}
)

func requestFilters(t *testing.T) map[string]xds.Filters {
	path := attribute.Path.Segments(protectedPath)
	method := attribute.Method.Exact(protectedMethod)
	return map[string]xds.Filters{
		"deny-path":     compile(t, denyGate(policy.L7, path)),
		"deny-method":   compile(t, denyGate(policy.L7, method)),
		"allow-both":    compile(t, allowGate(policy.L7, policy.And{method, path})),
		"matcher-deny":  byHeader(t, rbacv3.RBAC_DENY),
		"matcher-allow": byHeader(t, rbacv3.RBAC_ALLOW),
		"rules-deny":    byHeaderRule(rbacv3.RBAC_DENY),
		"rules-allow":   byHeaderRule(rbacv3.RBAC_ALLOW),
	}
}

// byHeader returns a matcher that takes the action for a request with the header, and the
// opposite action for other requests.
func byHeader(t *testing.T, action rbacv3.RBAC_Action) xds.Filters {
	pack := func(name string, m proto.Message) *corev3.TypedExtensionConfig {
		return &corev3.TypedExtensionConfig{Name: name, TypedConfig: must(anypb.New(m))(t)}
	}
	do := func(name string, action rbacv3.RBAC_Action) *matcherv3.Matcher_OnMatch {
		return &matcherv3.Matcher_OnMatch{OnMatch: &matcherv3.Matcher_OnMatch_Action{
			Action: pack("envoy.filters.rbac.action", &rbacv3.Action{Name: name, Action: action}),
		}}
	}
	otherwise := do(defaultOrigin, rbacv3.RBAC_DENY)
	if action == rbacv3.RBAC_DENY {
		otherwise = do(unprotected, rbacv3.RBAC_ALLOW)
	}
	return xds.Filters{HTTP: []*httprbacv3.RBAC{{Matcher: &matcherv3.Matcher{
		OnNoMatch: otherwise,
		MatcherType: &matcherv3.Matcher_MatcherList_{MatcherList: &matcherv3.Matcher_MatcherList{Matchers: []*matcherv3.Matcher_MatcherList_FieldMatcher{{
			OnMatch: do(protected, action),
			Predicate: &matcherv3.Matcher_MatcherList_Predicate{MatchType: &matcherv3.Matcher_MatcherList_Predicate_SinglePredicate_{
				SinglePredicate: &matcherv3.Matcher_MatcherList_Predicate_SinglePredicate{
					Input: pack("envoy.matching.inputs.request_headers", &envoymatcherv3.HttpRequestHeaderMatchInput{HeaderName: protectedHeader}),
					Matcher: &matcherv3.Matcher_MatcherList_Predicate_SinglePredicate_ValueMatch{ValueMatch: &matcherv3.StringMatcher{
						MatchPattern: &matcherv3.StringMatcher_Exact{Exact: protectedValue},
					}},
				},
			}},
		}}}},
	}}}}
}

// byHeaderRule returns the same policy as named rules. Rules that deny let all other
// requests pass.
func byHeaderRule(action rbacv3.RBAC_Action) xds.Filters {
	return xds.Filters{HTTP: []*httprbacv3.RBAC{{Rules: &rbacv3.RBAC{Action: action, Policies: map[string]*rbacv3.Policy{protected: {
		Principals: []*rbacv3.Principal{{Identifier: &rbacv3.Principal_Any{Any: true}}},
		Permissions: []*rbacv3.Permission{{Rule: &rbacv3.Permission_Header{Header: &routev3.HeaderMatcher{
			Name: protectedHeader,
			HeaderMatchSpecifier: &routev3.HeaderMatcher_StringMatch{StringMatch: &envoymatcherv3.StringMatcher{
				MatchPattern: &envoymatcherv3.StringMatcher_Exact{Exact: protectedValue},
			}},
		}}}},
	}}}}}}
}

// plainName is the name of a plain request for the protected path or header. Its rows show
// that the policies work.
const plainName = "the-request-itself"

func plainRequests() []adversary.Request {
	return overBoth(adversary.Request{Name: plainName, Method: protectedMethod, Path: protectedPath, Authority: adversary.Authority})
}

func plainHeaderRequests() []adversary.Request {
	return overBoth(adversary.Request{
		Name: plainName, Method: "GET", Path: "/", Authority: adversary.Authority,
		Headers: []policy.Header{{Name: protectedHeader, Value: protectedValue}},
	})
}

func overBoth(r adversary.Request) []adversary.Request {
	second := r
	second.Name, second.Protocol = "h2-"+r.Name, policy.HTTP2
	return []adversary.Request{r, second}
}

// attempt is one request to one inbound, with its traces.
type attempt struct {
	trace
	request adversary.Request
	inbound string
}

// measureRequests sends each request to each inbound.
func measureRequests(t *testing.T, l *lab, requests []adversary.Request, inbounds []string) []attempt {
	t.Helper()
	out := make([]attempt, 0, len(requests)*len(inbounds))
	for _, r := range requests {
		for _, inbound := range inbounds {
			out = append(out, attempt{request: r, inbound: inbound})
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	var callers sync.WaitGroup
	free := make(chan struct{}, 8)
	for i := range out {
		callers.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			var err error
			if out[i].trace, err = l.send(ctx, out[i].inbound, out[i].request); err != nil {
				cancel(err)
			}
		})
	}
	callers.Wait()
	if err := context.Cause(ctx); err != nil {
		t.Fatal(err)
	}
	return out
}

// tabulate returns a table of the attempts, with one row for each request.
func tabulate(title string, columns []string, attempts []attempt) table {
	out := table{title: title, rows: []row{{"request", columns}}}
	for chunk := range slices.Chunk(attempts, len(columns)) {
		r := row{name: chunk[0].request.Name}
		for _, a := range chunk {
			r.cells = append(r.cells, a.cell())
		}
		out.rows = append(out.rows, r)
	}
	return out
}

// cell returns the answer of the caller, the deciding policy, and the request that the
// upstream saw.
func (a attempt) cell() string {
	parts := []string{a.reply.String()}
	if a.log.Enforced.Ran {
		parts = append(parts, origin(a.log.Enforced.Verdict))
	}
	if got := a.arrival; got != nil {
		parts = append(parts, escapeCell(got.Method), escapeCell(got.Path))
		if got.Authority != adversary.Authority {
			parts = append(parts, "host="+escapeCell(got.Authority))
		}
		if got.Requests != 1 {
			parts = append(parts, fmt.Sprintf("times=%d", got.Requests))
		}
		for _, h := range append(a.request.Headers, a.request.Fields...) {
			name := strings.ToLower(h.Name)
			if values := got.Header.Values(name); len(values) > 0 && name != "x-forwarded-client-cert" {
				parts = append(parts, name+"="+escapeCell(strings.Join(values, "|")))
			}
		}
		if xfcc := got.XFCC(); !strings.HasSuffix(xfcc, "URI="+attacker.String()) || strings.Count(xfcc, "URI=") != 1 {
			parts = append(parts, "xfcc="+escapeCell(xfcc))
		}
	}
	// Compact removes the repetition of a header that was sent twice.
	return strings.Join(slices.Compact(parts), " ")
}

func origin(v policy.Verdict) string {
	if v.Origin == "" {
		return "none"
	}
	return v.Origin
}

// escapeCell escapes a text so that it stays one cell.
func escapeCell(s string) string {
	quoted := strconv.QuoteToASCII(s)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], " ", `\x20`)
}

// TestPlainRequestsThroughMesh sends the requests that are not raw through a harness. The
// answers are the same as over Exchange.
func TestPlainRequestsThroughMesh(t *testing.T) {
	t.Parallel()
	const inbound = "deny-path"
	filters := requestFilters(t)[inbound]
	h := harness.New(t, harness.WithRuntime(envoy.Process), harness.WithEnvoy(testedVersion()), harness.WithMeshes(1))
	spec := harness.MeshSpec{TrustDomains: []spiffeid.TrustDomain{domain}}
	for _, protocol := range []policy.Protocol{policy.HTTP, policy.HTTP2} {
		spec.Inbounds = append(spec.Inbounds, harness.Inbound{
			Name: protocol.String(), Identity: backend, Protocol: protocol, Filters: filters,
			Address: netip.AddrPortFrom(netip.MustParseAddr("10.0.0.7"), 8000+uint16(protocol)),
		})
	}
	m := h.Mesh(t, spec)
	credential := must(must(m.Authority(domain))(t).Mint(attacker))(t)
	var plain []adversary.Request
	var requests []harness.Request
	for _, r := range append(adversary.Requests(protectedMethod, protectedPath), adversary.Headers(protectedHeader, protectedValue)...) {
		// The upstream of the lab cannot read a target with a bad escape: a batch with one is an error.
		if _, err := url.ParseRequestURI(r.Path); r.Raw() || err != nil {
			continue
		}
		plain = append(plain, r)
		requests = append(requests, harness.Request{
			To: r.Protocol.String(), Credential: credential, Method: r.Method, Path: r.Path, Authority: r.Authority, Headers: r.Headers,
		})
	}
	batch := must(m.Send(t.Context(), requests...))(t)
	l := startLab(t, testedVersion(), requestFilters(t))
	for i, a := range measureRequests(t, l, plain, []string{inbound}) {
		answer, log := batch.Evidence[i].Answer, batch.Evidence[i].Log
		if answer.Outcome != caller.Answered || fmt.Sprint(answer.Status) != a.reply.String() || log.Enforced != a.log.Enforced {
			t.Errorf("%s: %s, %v; over Exchange %s, %v", plain[i].Name, answer, log.Enforced, a.reply, a.log.Enforced)
		}
	}
}
