package suite

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/exchange"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

const (
	// In routed a workload sends requests through its sidecar and past it.
	routed = `
case: through a sidecar and past it
workloads:
  - {name: web}
  - {name: backend, labels: {app: backend}, inbounds: [{name: main, port: 8080}]}
outbounds:
  - {type: MeshService, name: backend, spec: {selector: {dataplaneTags: {app: backend}}, ports: [{port: 80, targetPort: 8080, appProtocol: http}]}}
policies:
  - {type: MeshTrafficPermission, name: readers, spec: {default: {allow: [{spiffeId: {type: Prefix, value: 'spiffe://trust-domain.mesh/'}}], deny: [{path: {type: Prefix, value: /admin}}]}}}
requests:
  - {from: web, to: 'MeshService/backend:80', path: [/orders, /admin], want: %s}
  - {from: web, to: backend/main, path: /orders, want: allow}
`
	readers = "kri_mtp_default___readers_"
)

// Counters that a batch through sidecars moved otherwise than the logs of the inbounds say fail the
// case: those of a filter, of a rule, of a shadow, and of an inbound that no log names.
func TestRoutedCountersAreConserved(t *testing.T) {
	t.Parallel()
	reading, err := verdict.Read(casetest.Parse(t, head+ask))
	if err != nil {
		t.Fatal(err)
	}
	place := xds.FilterPlace{Layer: policy.L7}
	taken := func(v policy.Verdict) exchange.Evidence {
		log := xds.AccessLog{}
		log.SetFilters([]xds.FilterLog{{FilterPlace: place, Enforced: xds.Engine{Ran: true, Verdict: v}}})
		return exchange.Evidence{Inbound: &exchange.Inbound{Name: "backend/http-port", Log: log}}
	}
	for name, tt := range map[string]struct {
		moved map[string][]evidence.FilterCounters
		want  []string
	}{
		"as logged": {moved: map[string][]evidence.FilterCounters{"backend/http-port": {
			{FilterPlace: place, Counters: evidence.Counters{Allowed: 1, Denied: 1}}, {FilterPlace: place, Rule: "mine", Counters: evidence.Counters{Allowed: 1}},
		}}},
		"a request more": {
			moved: map[string][]evidence.FilterCounters{"backend/http-port": {
				{FilterPlace: place, Counters: evidence.Counters{Allowed: 2, Denied: 1}}, {FilterPlace: place, Rule: "mine", Counters: evidence.Counters{Allowed: 1}},
			}},
			want: []string{"the counters of backend/http-port moved by allowed 2, denied 1, shadow_allowed 0, shadow_denied 0; the requests add up to allowed 1, denied 1,"},
		},
		"none": {want: []string{"the counters of backend/http-port moved by allowed 0, denied 0, shadow_allowed 0, shadow_denied 0; the requests add up to allowed 1, denied 1,"}},
		"another rule": {
			moved: map[string][]evidence.FilterCounters{"backend/http-port": {
				{FilterPlace: place, Counters: evidence.Counters{Allowed: 1, Denied: 1}}, {FilterPlace: place, Rule: "other", Counters: evidence.Counters{Allowed: 1}},
			}},
			want: []string{`the counters of backend/http-port moved by [filter 0 on L7, rule "other": allowed 1, denied 0, shadow_allowed 0, shadow_denied 0]; the requests add up to [filter 0 on L7, rule "mine": allowed 1,`},
		},
		"a shadow": {
			moved: map[string][]evidence.FilterCounters{"backend/http-port": {
				{FilterPlace: place, Counters: evidence.Counters{Allowed: 1, Denied: 1, ShadowDenied: 1}}, {FilterPlace: place, Rule: "mine", Counters: evidence.Counters{Allowed: 1}},
			}},
			want: []string{"the counters of backend/http-port moved by allowed 1, denied 1, shadow_allowed 0, shadow_denied 1; the requests add up to"},
		},
		"another inbound": {
			moved: map[string][]evidence.FilterCounters{
				"backend/http-port": {{FilterPlace: place, Counters: evidence.Counters{Allowed: 1, Denied: 1}}, {FilterPlace: place, Rule: "mine", Counters: evidence.Counters{Allowed: 1}}},
				"backend/tcp-port":  {{FilterPlace: xds.FilterPlace{Layer: policy.L4}, Counters: evidence.Counters{Allowed: 1}}},
			},
			want: []string{"the counters of backend/tcp-port moved by allowed 1, denied 0, shadow_allowed 0, shadow_denied 0; the requests add up to allowed 0, denied 0,"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			of := &run{reading: reading}
			checkErr(t, of.checkRoutedConservation(exchange.Batch{
				Evidence: []exchange.Evidence{taken(policy.Verdict{Effect: policy.Allow, Origin: "mine"}), taken(policy.Verdict{}), {}}, Filters: tt.moved,
			}), tt.want...)
		})
	}
}

// A strict run takes a warning of lint about routes for a failure, also where the case states no warnings.
func TestStrictTellsOfRoutes(t *testing.T) {
	t.Parallel()
	const timeout = "policies:\n  - {type: MeshTimeout, name: t, spec: {to: [{targetRef: {kind: MeshHTTPRoute, name: none}, default: {http: {requestTimeout: 1s}}}]}}\n"
	text := strings.Replace(strings.Replace(routed, "%s", "allow", 1), "policies:\n", timeout, 1)
	for strict, want := range map[bool]int{true: 1, false: 0} {
		result := Runner{Harness: sharedEnvoy.Get(t), Strict: strict}.Case(t.Context(), casetest.Parse(t, text))
		if got := strings.Count(strings.Join(result.Failures(), "\n"), "there is no MeshHTTPRoute"); got != want {
			t.Errorf("strict %t: %q", strict, result.Failures())
		}
	}
}

// The counters that a case states are those of all its requests, through sidecars and without them.
func TestStatedCountersOfRoutedRequests(t *testing.T) {
	t.Parallel()
	parse := func(counters string) []string {
		c := casetest.Parse(t, strings.Replace(routed, "%s", "allow", 1)+"counters: {backend/main: "+counters+"}\n")
		c.RoutedRequests[1].Want = "403"
		result := Runner{Harness: sharedEnvoy.Get(t)}.Case(t.Context(), c)
		if result.Fault {
			t.Fatal(result.Err)
		}
		return result.Failures()
	}
	if failures := parse("{allowed: 2, denied: 1, rules: {" + readers + ": {allowed: 2, denied: 1}}}"); len(failures) > 0 {
		t.Errorf("the right counters: %q", failures)
	}
	want := []string{
		"the case wants allowed of backend/main to move by 1, it moved by 2",
		"the case wants denied of " + readers + " on backend/main to move by 2, it moved by 1",
	}
	if diff := cmp.Diff(want, parse("{allowed: 1, rules: {"+readers+": {denied: 2}}}")); diff != "" {
		t.Errorf("wrong counters (-want +got):\n%s", diff)
	}
}
