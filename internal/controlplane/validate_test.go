package controlplane

import (
	"net/netip"
	"strings"
	"testing"

	xdscorev3 "github.com/cncf/xds/go/xds/core/v3"
	matcherv3 "github.com/cncf/xds/go/xds/type/matcher/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	networkrbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/rbac/v3"
	sslinputsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/common_inputs/ssl/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/meshproof/meshproof/internal/messages"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

type predicateProto = matcherv3.Matcher_MatcherList_Predicate

var uriSAN = &xdscorev3.TypedExtensionConfig{Name: "uri_san", TypedConfig: messages.MustPack(&sslinputsv3.UriSanInput{})}

func startsWith(prefix string) *predicateProto {
	return &predicateProto{MatchType: &matcherv3.Matcher_MatcherList_Predicate_SinglePredicate_{
		SinglePredicate: &matcherv3.Matcher_MatcherList_Predicate_SinglePredicate{
			Input: uriSAN,
			Matcher: &matcherv3.Matcher_MatcherList_Predicate_SinglePredicate_ValueMatch{
				ValueMatch: &matcherv3.StringMatcher{MatchPattern: &matcherv3.StringMatcher_Prefix{Prefix: prefix}},
			},
		},
	}}
}

func anyOf(list ...*predicateProto) *predicateProto {
	return &predicateProto{MatchType: &matcherv3.Matcher_MatcherList_Predicate_OrMatcher{
		OrMatcher: &matcherv3.Matcher_MatcherList_Predicate_PredicateList{Predicate: list},
	}}
}

func action(name string) *matcherv3.Matcher_OnMatch {
	return &matcherv3.Matcher_OnMatch{OnMatch: &matcherv3.Matcher_OnMatch_Action{Action: &xdscorev3.TypedExtensionConfig{
		Name: "action", TypedConfig: messages.MustPack(&rbacv3.Action{Name: name}),
	}}}
}

func matching(p *predicateProto) *matcherv3.Matcher {
	return &matcherv3.Matcher{MatcherType: &matcherv3.Matcher_MatcherList_{MatcherList: &matcherv3.Matcher_MatcherList{
		Matchers: []*matcherv3.Matcher_MatcherList_FieldMatcher{{Predicate: p, OnMatch: action("p")}},
	}}}
}

// TestValidateFindsTraps has what Envoy refuses although it marshals.
func TestValidateFindsTraps(t *testing.T) {
	t.Parallel()
	sound := startsWith("a")
	nameless := matching(sound)
	nameless.OnNoMatch = action("")
	for name, tt := range map[string]struct {
		matcher *matcherv3.Matcher
		want    string
	}{
		"or of one":             {matching(anyOf(sound)), "Predicate: value must contain at least 2 item(s)"},
		"or of none":            {matching(anyOf()), "Predicate: value must contain at least 2 item(s)"},
		"and of one":            {matching(&predicateProto{MatchType: &matcherv3.Matcher_MatcherList_Predicate_AndMatcher{AndMatcher: &matcherv3.Matcher_MatcherList_Predicate_PredicateList{Predicate: []*predicateProto{sound}}}}), "Predicate: value must contain at least 2 item(s)"},
		"trap inside a not":     {matching(&predicateProto{MatchType: &matcherv3.Matcher_MatcherList_Predicate_NotMatcher{NotMatcher: anyOf(sound)}}), "Predicate: value must contain at least 2 item(s)"},
		"empty prefix":          {matching(startsWith("")), "Prefix: value length must be at least 1 runes"},
		"action without a name": {nameless, "envoy.config.rbac.v3.Action: invalid Action.Name: value length must be at least 1 runes"},
		"empty list":            {&matcherv3.Matcher{MatcherType: &matcherv3.Matcher_MatcherList_{MatcherList: &matcherv3.Matcher_MatcherList{}}}, "Matchers: value must contain at least 1 item(s)"},
		"empty map": {&matcherv3.Matcher{MatcherType: &matcherv3.Matcher_MatcherTree_{MatcherTree: &matcherv3.Matcher_MatcherTree{
			Input:    uriSAN,
			TreeType: &matcherv3.Matcher_MatcherTree_ExactMatchMap{ExactMatchMap: &matcherv3.Matcher_MatcherTree_MatchMap{}},
		}}}, "Map: value must contain at least 1 pair(s)"},
		"trap under a key": {&matcherv3.Matcher{MatcherType: &matcherv3.Matcher_MatcherTree_{MatcherTree: &matcherv3.Matcher_MatcherTree{
			Input: uriSAN,
			TreeType: &matcherv3.Matcher_MatcherTree_ExactMatchMap{ExactMatchMap: &matcherv3.Matcher_MatcherTree_MatchMap{
				Map: map[string]*matcherv3.Matcher_OnMatch{"key": nameless.OnNoMatch},
			}},
		}}}, "envoy.config.rbac.v3.Action: invalid Action.Name: value length must be at least 1 runes"},
		"packed bytes are another message": {&matcherv3.Matcher{OnNoMatch: &matcherv3.Matcher_OnMatch{OnMatch: &matcherv3.Matcher_OnMatch_Action{
			Action: &xdscorev3.TypedExtensionConfig{Name: "a", TypedConfig: &anypb.Any{TypeUrl: "type.googleapis.com/envoy.config.rbac.v3.Action", Value: []byte{0xff}}},
		}}}, "type.googleapis.com/envoy.config.rbac.v3.Action: "},
		"unknown type": {&matcherv3.Matcher{OnNoMatch: &matcherv3.Matcher_OnMatch{OnMatch: &matcherv3.Matcher_OnMatch_Action{
			Action: &xdscorev3.TypedExtensionConfig{Name: "a", TypedConfig: &anypb.Any{TypeUrl: "type.googleapis.com/no.such.Message"}},
		}}}, "no.such.Message"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// The traps must be found below any number of packings: this is one of them.
			filter := &networkrbacv3.RBAC{StatPrefix: "stat", Matcher: tt.matcher}
			l := testListener()
			l.Inbounds = []Inbound{testInbound(policy.TCP, xds.Filters{Network: []*networkrbacv3.RBAC{filter}})}
			for where, err := range map[string]error{"filter": messages.Validate(filter), "listener": second(l.build("v"))} {
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("%s: got %v, want %q in it", where, err, tt.want)
				}
			}
		})
	}
}

func second[T any](_ T, err error) error { return err }

func TestListenerRefuses(t *testing.T) {
	t.Parallel()
	l7 := mustCompile(t, enforce(policy.L7, allow("p", is("a"))))
	with := func(change func(*Inbound)) Inbound {
		in := testInbound(policy.HTTP, xds.Filters{})
		change(&in)
		return in
	}
	for name, tt := range map[string]struct {
		inbound Inbound
		want    string
	}{
		"stat prefix with a dot": {with(func(in *Inbound) { in.Stat = "a.b" }), `xds: inbound 10.0.0.1:80: stat prefix "a.b" may only have letters, digits, '_' and '-'`},
		"no stat prefix":         {with(func(in *Inbound) { in.Stat = "" }), `xds: inbound 10.0.0.1:80: stat prefix "" may only have letters, digits, '_' and '-'`},
		"no destination":         {with(func(in *Inbound) { in.Destination = netip.AddrPort{} }), `xds: inbound http: destination invalid AddrPort is not an address with a port`},
		"no port":                {with(func(in *Inbound) { in.Destination = netip.MustParseAddrPort("10.0.0.1:0") }), `xds: inbound http: destination 10.0.0.1:0 is not an address with a port`},
		"HTTP filter on tcp":     {with(func(in *Inbound) { in.Protocol, in.Filters = policy.TCP, l7 }), `xds: inbound http: an HTTP filter cannot stand on a tcp inbound; compile the policies for its protocol`},
		"canary's destination":   {with(func(in *Inbound) { in.Destination = canaryDestination }), `xds: inbound http: destination 240.0.0.1:1 is the destination of the canary`},
		"stat prefix of another": {with(func(in *Inbound) { in.Destination = netip.MustParseAddrPort("10.0.0.9:80") }), `xds: listener mesh: two inbounds have the stat prefix "http"; filters with one prefix would share counters`},
		"destination of another": {with(func(in *Inbound) { in.Stat = "other" }), `xds: listener mesh: two inbounds have the destination 10.0.0.1:80`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := testListener()
			l.Inbounds = []Inbound{testInbound(policy.HTTP, xds.Filters{}), tt.inbound}
			if _, err := l.build("v"); err == nil || err.Error() != tt.want {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}

// TestValidateSecret shows that a secret's message is looked at too.
func TestValidateSecret(t *testing.T) {
	t.Parallel()
	u := Update{Secrets: []Secret{{Name: "s", message: &tlsv3.Secret{Type: &tlsv3.Secret_ValidationContext{
		ValidationContext: &tlsv3.CertificateValidationContext{VerifyCertificateHash: []string{"short"}},
	}}}}}
	if _, _, err := u.secrets(); err == nil || !strings.HasPrefix(err.Error(), "xds: secret s: envoy.extensions.transport_sockets.tls.v3.Secret: ") {
		t.Errorf("got %v", err)
	}
}
