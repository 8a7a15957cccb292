package harness

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	matcherv3 "github.com/cncf/xds/go/xds/type/matcher/v3"
	networkrbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/rbac/v3"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

// spoilt is a filter with a well-formed message that Envoy refuses: its regular expression
// does not parse.
func spoilt(t testing.TB) xds.Filters {
	t.Helper()
	f := compile(t, onlyFrontend(policy.L4))
	filter := proto.CloneOf(f.Network[0])
	filter.Matcher.GetMatcherList().Matchers[0].Predicate.GetSinglePredicate().Matcher =
		&matcherv3.Matcher_MatcherList_Predicate_SinglePredicate_ValueMatch{ValueMatch: &matcherv3.StringMatcher{
			MatchPattern: &matcherv3.StringMatcher_SafeRegex{SafeRegex: &matcherv3.RegexMatcher{
				EngineType: &matcherv3.RegexMatcher_GoogleRe2{GoogleRe2: &matcherv3.RegexMatcher_GoogleRE2{}}, Regex: "(",
			}},
		}}
	return xds.Filters{Network: []*networkrbacv3.RBAC{filter}}
}

// Envoy's words about it.
const missing = "missing ): ("

func checkForms(t *testing.T, got []evidence.Finding, want ...evidence.Form) {
	t.Helper()
	var forms []evidence.Form
	for _, f := range got {
		forms = append(forms, f.Form)
	}
	if diff := cmp.Diff(want, forms); diff != "" {
		t.Errorf("forms (-want +got):\n%s", diff)
	}
}

func TestSetFiltersIsSeenByTheNextRequest(t *testing.T) {
	t.Parallel()
	m := sharedEnvoy.Get(t).Mesh(t, inbounds(t, allOf(policy.Deny)))
	svid := mint(t, m, frontend)
	to := func(name string) Request { return Request{To: name, Credential: svid} }
	requests := []Request{to("http"), to("http2"), to("tcp"), to("open tcp")}
	for round := range 8 {
		effect, form := policy.Allow, evidence.Served
		if round%2 == 1 {
			effect, form = policy.Deny, evidence.Refused
		}
		change := map[string]xds.Filters{"tcp": compile(t, constant(policy.L4, effect))}
		for _, name := range []string{"http", "http2"} {
			change[name] = compile(t, constant(policy.L7, effect))
		}
		if err := m.SetFilters(t.Context(), change); err != nil {
			t.Fatal(err)
		}
		findings, _ := send(t, m, requests...)
		checkForms(t, findings, form, form, form, evidence.Refused)
	}
	// The zero value judges no request.
	if err := m.SetFilters(t.Context(), map[string]xds.Filters{"http": {}, "tcp": {}}); err != nil {
		t.Fatal(err)
	}
	findings, moved := send(t, m, to("http"), to("tcp"))
	checkForms(t, findings, evidence.Served, evidence.Served)
	if findings[0].Judged || findings[1].Judged || moved["http"] != (evidence.Counters{}) || moved["tcp"] != (evidence.Counters{}) {
		t.Errorf("without a filter: %+v, counters moved %v", findings, moved)
	}
}

// Two meshes with the same names and addresses, used at the same time.
func TestMeshesDoNotSeeEachOther(t *testing.T) {
	t.Parallel()
	h := sharedEnvoy.Get(t)
	lax, strict := h.Mesh(t, inbounds(t, allOf(policy.Allow))), h.Mesh(t, inbounds(t, allOf(policy.Deny)))
	for name, tt := range map[string]struct {
		mesh, other *Mesh
		effect      policy.Effect
		form        evidence.Form
		moved       evidence.Counters
	}{
		"lax":    {lax, strict, policy.Allow, evidence.Served, evidence.Counters{Allowed: 2}},
		"strict": {strict, lax, policy.Deny, evidence.Refused, evidence.Counters{Denied: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			own, others := mint(t, tt.mesh, frontend), mint(t, tt.other, frontend)
			for range 5 {
				findings, moved := send(t, tt.mesh,
					Request{To: "http", Credential: own}, Request{To: "http", Credential: own}, Request{To: "http", Credential: others},
					Request{To: "tcp", Credential: own}, Request{To: "tcp", Credential: own}, Request{To: "tcp", Credential: others},
				)
				checkForms(t, findings, tt.form, tt.form, evidence.HandshakeFailed, tt.form, tt.form, evidence.HandshakeFailed)
				if diff := cmp.Diff(map[string]evidence.Counters{"http": tt.moved, "tcp": tt.moved}, moved); diff != "" {
					t.Errorf("counters (-want +got):\n%s", diff)
				}
				// A push to one leaves the other alone.
				if err := tt.mesh.SetFilters(t.Context(), map[string]xds.Filters{"grpc": compile(t, constant(policy.L7, tt.effect))}); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestSetFiltersThatEnvoyRefuses(t *testing.T) {
	t.Parallel()
	m := sharedEnvoy.Get(t).Mesh(t, inbounds(t, onlyFrontend))
	friend, foe := Request{To: "tcp", Credential: mint(t, m, frontend)}, Request{To: "tcp", Credential: mint(t, m, intruder)}
	everybody := compile(t, constant(policy.L7, policy.Allow))
	for range 3 {
		err := m.SetFilters(t.Context(), map[string]xds.Filters{"tcp": spoilt(t), "http": everybody})
		if !errors.Is(err, xds.ErrNACK) || !strings.Contains(err.Error(), missing) || strings.Contains(err.Error(), "\n") {
			t.Errorf("error %q, want one line that wraps %q and says %q", err, xds.ErrNACK, missing)
		}
		toHTTP := foe
		toHTTP.To = "http"
		findings, _ := send(t, m, friend, foe, toHTTP)
		checkForms(t, findings, evidence.Served, evidence.Refused, evidence.Refused)
	}
	if err := m.SetFilters(t.Context(), map[string]xds.Filters{"tcp": compile(t, constant(policy.L4, policy.Allow))}); err != nil {
		t.Fatal(err)
	}
	findings, _ := send(t, m, friend, foe)
	checkForms(t, findings, evidence.Served, evidence.Served)
}

// A filter that the harness refuses never reaches Envoy, and is no NACK.
func TestSetFiltersThatCannotBeSent(t *testing.T) {
	t.Parallel()
	m := sharedEnvoy.Get(t).Mesh(t, inbounds(t, allOf(policy.Deny)))
	for _, tt := range []struct {
		inbound string
		set     xds.Filters
		want    string
	}{
		{"smtp", xds.Filters{}, `has no inbound "smtp": it has ["http" "open http" "http2" "open http2" "grpc" "open grpc" "tcp" "open tcp"]`},
		{controlName, xds.Filters{}, fmt.Sprintf("has no inbound %q", controlName)},
		{"tcp", compile(t, constant(policy.L7, policy.Allow)), "an HTTP filter cannot stand on a tcp inbound"},
		{"tcp", xds.Filters{Network: []*networkrbacv3.RBAC{{Matcher: &matcherv3.Matcher{
			MatcherType: &matcherv3.Matcher_MatcherList_{MatcherList: &matcherv3.Matcher_MatcherList{}}}}}}, "value must contain at least 1 item"},
	} {
		err := m.SetFilters(t.Context(), map[string]xds.Filters{tt.inbound: tt.set, "http": compile(t, constant(policy.L7, policy.Allow))})
		if err == nil || errors.Is(err, xds.ErrNACK) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("filters of %q: error %v, want %q", tt.inbound, err, tt.want)
		}
	}
	findings, _ := send(t, m, Request{To: "http", Credential: mint(t, m, frontend)})
	checkForms(t, findings, evidence.Refused)
}

func TestParseCounters(t *testing.T) {
	t.Parallel()
	read := map[string]uint64{}
	err := parseCounters(strings.Join([]string{
		"http.mesh1_inbound0.rbac.allowed: 1",
		"http.mesh1_inbound0.rbac.denied: 2",
		"http.mesh1_inbound0.rbac.shadow_allowed: 3",
		"http.mesh1_inbound0.rbac.shadow_denied: 18446744073709551615",
		"mesh1_inbound0.rbac.allowed: 10",
		"mesh1_inbound1.rbac.denied: 5",
		"mesh1_inbound1.rbac.policy: 7",
		"http.mesh1_inbound2.rbac.log0_.policy.audit: all.allowed: 5",
		"http.mesh1_inbound2.rbac.log0_.allowed: 9",
		"http.mesh1_inbound2.rbac.effective_log0_.shadow_allowed: 5",
		"mesh1_inbound2_filter1.rbac.denied: 4",
		"mesh1_inbound2_filter1.rbac.filter1_.shadow_denied: 6",
	}, "\n"), func(name string, value uint64) error {
		read[name] = value
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	got := countFilters(read)
	filters, sums := map[string][]evidence.FilterCounters{}, map[string]evidence.Counters{}
	for key, counters := range got {
		filters[key.stat] = append(filters[key.stat], counters)
		slices.SortFunc(filters[key.stat], func(a, b evidence.FilterCounters) int {
			return 2*(int(a.Layer)-int(b.Layer)) + strings.Compare(a.Rule, b.Rule)
		})
		sums[key.stat] = evidence.Sum(filters[key.stat])
	}
	if diff := cmp.Diff([]evidence.FilterCounters{
		{FilterPlace: xds.FilterPlace{Index: 1}, Counters: evidence.Counters{Denied: 4, ShadowDenied: 6}},
		{FilterPlace: xds.FilterPlace{Layer: policy.L7, Logs: true}, Counters: evidence.Counters{Allowed: 9}, Logged: 5},
		{FilterPlace: xds.FilterPlace{Layer: policy.L7, Logs: true}, Rule: "audit: all", Logged: 5},
	}, filters["mesh1_inbound2"]); diff != "" {
		t.Errorf("filters (-want +got):\n%s", diff)
	}
	want := map[string]evidence.Counters{
		"mesh1_inbound0": {Allowed: 11, Denied: 2, ShadowAllowed: 3, ShadowDenied: 1<<64 - 1},
		"mesh1_inbound1": {Denied: 5},
		"mesh1_inbound2": {Denied: 4, ShadowDenied: 6},
	}
	if diff := cmp.Diff(want, sums); diff != "" {
		t.Errorf("counters (-want +got):\n%s", diff)
	}
	for _, page := range []string{
		"mesh1_inbound0.rbac.allowed: many", "mesh1_inbound0.rbac.allowed: -1", "mesh1_inbound0.rbac.allowed",
		// The names of rules are foreign text.
		"http.mesh1_inbound0.rbac.policy.a\nmesh1_inbound0.rbac.allowed: 1",
	} {
		err := parseCounters(page, func(string, uint64) error { return nil })
		if err == nil || !strings.Contains(err.Error(), "mesh1_inbound0.rbac.") {
			t.Errorf("%q gives %v; want an error that names the counter", page, err)
		}
	}
}

// The counters of a rule begin at zero with other filters, also for a rule that had its name
// before. The filters of another inbound leave them alone.
func TestCountersByRuleAcrossChanges(t *testing.T) {
	t.Parallel()
	m := sharedEnvoy.Get(t).Mesh(t, inbounds(t, allOf(policy.Deny)))
	svid := mint(t, m, frontend)
	named := func(rule string) xds.Filters {
		gate := policy.Gate{Layer: policy.L7, Rules: []policy.Rule{{Verdict: policy.Verdict{Effect: policy.Allow, Origin: rule}, When: policy.Always}}}
		return compile(t, policy.Program{Gates: []policy.Gate{gate}, Shadows: []policy.Gate{gate}})
	}
	place := xds.FilterPlace{Layer: policy.L7}
	for round, change := range []struct{ inbound, rule, counts string }{
		{"http", "a", "a"}, {"http", "b", "b"}, {"http", "a", "a"}, {"http2", "c", "a"}, {"http", "a", "a"},
		// Any text is the name of a rule.
		{"http", "ns[a]-policy[b]-rule[0]", "ns[a]-policy[b]-rule[0]"}, {"http", "spiffe://a.b: 3/ü.", "spiffe://a.b: 3/ü."}, {"http", "..policy.", "..policy."},
	} {
		if err := m.SetFilters(t.Context(), map[string]xds.Filters{change.inbound: named(change.rule)}); err != nil {
			t.Fatal(err)
		}
		to := Request{To: "http", Credential: svid}
		batch, err := m.Send(t.Context(), to, to)
		if err != nil {
			t.Fatal(err)
		}
		two := evidence.Counters{Allowed: 2, ShadowAllowed: 2}
		want := []evidence.FilterCounters{{FilterPlace: place, Counters: two}, {FilterPlace: place, Rule: change.counts, Counters: two}}
		if diff := cmp.Diff(want, batch.Filters["http"]); diff != "" {
			t.Errorf("round %d (-want +got):\n%s", round, diff)
		}
	}
}
