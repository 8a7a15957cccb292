package adversary_test

import (
	"context"
	"fmt"
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
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/meshproof/meshproof/harness/caller"
	"github.com/meshproof/meshproof/internal/adversary"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/xds"
)

// The origins that the verdicts name.
const (
	named     = "protected"
	rest      = "rest"
	byDefault = "default"
)

func compile(t *testing.T, gates ...policy.Gate) xds.Filters {
	t.Helper()
	return must(xds.Compile(policy.Program{Gates: gates}))(t)
}

// denying denies whom or what the condition names, allowing allows nothing else.
func denying(layer policy.Layer, when policy.Condition) policy.Gate {
	return policy.Gate{Layer: layer, Rules: []policy.Rule{
		{Verdict: policy.Verdict{Effect: policy.Deny, Origin: named}, When: when},
		{Verdict: policy.Verdict{Effect: policy.Allow, Origin: rest}, When: policy.Always},
	}}
}

func allowing(layer policy.Layer, when policy.Condition) policy.Gate {
	return policy.Gate{Layer: layer, Default: policy.Verdict{Origin: byDefault}, Rules: []policy.Rule{
		{Verdict: policy.Verdict{Effect: policy.Allow, Origin: named}, When: when},
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
		"deny-path":     compile(t, denying(policy.L7, path)),
		"deny-method":   compile(t, denying(policy.L7, method)),
		"allow-both":    compile(t, allowing(policy.L7, policy.And{method, path})),
		"matcher-deny":  byHeader(t, rbacv3.RBAC_DENY),
		"matcher-allow": byHeader(t, rbacv3.RBAC_ALLOW),
		"rules-deny":    byHeaderRule(rbacv3.RBAC_DENY),
		"rules-allow":   byHeaderRule(rbacv3.RBAC_ALLOW),
	}
}

// byHeader is a matcher that does one thing to a request with the header and the
// other to the rest. No policy here looks at headers; other people's do.
func byHeader(t *testing.T, action rbacv3.RBAC_Action) xds.Filters {
	pack := func(name string, m proto.Message) *corev3.TypedExtensionConfig {
		return &corev3.TypedExtensionConfig{Name: name, TypedConfig: must(anypb.New(m))(t)}
	}
	do := func(name string, action rbacv3.RBAC_Action) *matcherv3.Matcher_OnMatch {
		return &matcherv3.Matcher_OnMatch{OnMatch: &matcherv3.Matcher_OnMatch_Action{
			Action: pack("envoy.filters.rbac.action", &rbacv3.Action{Name: name, Action: action}),
		}}
	}
	otherwise := do(byDefault, rbacv3.RBAC_DENY)
	if action == rbacv3.RBAC_DENY {
		otherwise = do(rest, rbacv3.RBAC_ALLOW)
	}
	return xds.Filters{HTTP: []*httprbacv3.RBAC{{Matcher: &matcherv3.Matcher{
		OnNoMatch: otherwise,
		MatcherType: &matcherv3.Matcher_MatcherList_{MatcherList: &matcherv3.Matcher_MatcherList{Matchers: []*matcherv3.Matcher_MatcherList_FieldMatcher{{
			OnMatch: do(named, action),
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

// byHeaderRule is the same as rules, which deny by letting pass whom they do not
// name.
func byHeaderRule(action rbacv3.RBAC_Action) xds.Filters {
	return xds.Filters{HTTP: []*httprbacv3.RBAC{{Rules: &rbacv3.RBAC{Action: action, Policies: map[string]*rbacv3.Policy{named: {
		Principals: []*rbacv3.Principal{{Identifier: &rbacv3.Principal_Any{Any: true}}},
		Permissions: []*rbacv3.Permission{{Rule: &rbacv3.Permission_Header{Header: &routev3.HeaderMatcher{
			Name: protectedHeader,
			HeaderMatchSpecifier: &routev3.HeaderMatcher_StringMatch{StringMatch: &envoymatcherv3.StringMatcher{
				MatchPattern: &envoymatcherv3.StringMatcher_Exact{Exact: protectedValue},
			}},
		}}}},
	}}}}}}
}

// itself is the name of a request that asks for what is protected as everybody
// does; its rows show that the policies work.
const itself = "the-request-itself"

func straight() []adversary.Request {
	return overBoth(adversary.Request{Name: itself, Method: protectedMethod, Path: protectedPath, Authority: adversary.Authority})
}

func straightHeader() []adversary.Request {
	return overBoth(adversary.Request{
		Name: itself, Method: "GET", Path: "/", Authority: adversary.Authority,
		Headers: []caller.Header{{Name: protectedHeader, Value: protectedValue}},
	})
}

func overBoth(r adversary.Request) []adversary.Request {
	second := r
	second.Name, second.Protocol = "h2-"+r.Name, policy.HTTP2
	return []adversary.Request{r, second}
}

// attempt is one request to one inbound, with what came of it.
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

// tabulate lays the attempts out, one row for each request.
func tabulate(title string, columns []string, attempts []attempt) table {
	out := table{title: title, rows: []row{{"request", columns}}}
	for of := range slices.Chunk(attempts, len(columns)) {
		r := row{name: of[0].request.Name}
		for _, a := range of {
			r.cells = append(r.cells, a.cell())
		}
		out.rows = append(out.rows, r)
	}
	return out
}

// cell is what the caller saw, who decided, and what the upstream saw.
func (a attempt) cell() string {
	parts := []string{a.reply.String()}
	if a.log.Enforced.Ran {
		parts = append(parts, origin(a.log.Enforced.Verdict))
	}
	if got := a.arrival; got != nil {
		parts = append(parts, plain(got.Method), plain(got.Path))
		if got.Authority != adversary.Authority {
			parts = append(parts, "host="+plain(got.Authority))
		}
		if got.Requests != 1 {
			parts = append(parts, fmt.Sprintf("times=%d", got.Requests))
		}
		for _, h := range append(a.request.Headers, a.request.Fields...) {
			name := strings.ToLower(h.Name)
			if values := got.Header.Values(name); len(values) > 0 && name != "x-forwarded-client-cert" {
				parts = append(parts, name+"="+plain(strings.Join(values, "|")))
			}
		}
		if xfcc := got.XFCC(); !strings.HasSuffix(xfcc, "URI="+attacker.String()) || strings.Count(xfcc, "URI=") != 1 {
			parts = append(parts, "xfcc="+plain(xfcc))
		}
	}
	// A header that was sent twice is told once.
	return strings.Join(slices.Compact(parts), " ")
}

func origin(v policy.Verdict) string {
	if v.Origin == "" {
		return "none"
	}
	return v.Origin
}

// plain writes a text so that it stays one cell.
func plain(s string) string {
	quoted := strconv.QuoteToASCII(s)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], " ", `\x20`)
}
