package evidence

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

func TestCount(t *testing.T) {
	t.Parallel()
	left := func(filters ...xds.FilterLog) Evidence { return Evidence{Log: xds.AccessLog{Filters: filters}} }
	judged := func(index int, effect policy.Effect) xds.FilterLog {
		return xds.FilterLog{FilterPlace: xds.FilterPlace{Index: index}, Enforced: xds.Engine{Ran: true, Verdict: policy.Verdict{Effect: effect}}}
	}
	shadowed := func(f xds.FilterLog, effect policy.Effect) xds.FilterLog {
		f.Shadow = xds.Engine{Ran: true, Verdict: policy.Verdict{Effect: effect}}
		return f
	}
	logged := func(origin string) xds.FilterLog {
		f := judged(1, policy.Log)
		f.Layer, f.Logs, f.Enforced.Verdict.Origin = policy.L7, true, origin
		return f
	}
	first, second := xds.FilterPlace{}, xds.FilterPlace{Index: 1}
	for name, tt := range map[string]struct {
		es   []Evidence
		want []FilterCounters
		sum  Counters
	}{
		"nothing": {nil, nil, Counters{}},
		"unjudged": {[]Evidence{
			{}, {Log: xds.AccessLog{Status: 400}},
			// The verdict of an engine that did not run does not count.
			left(xds.FilterLog{Enforced: xds.Engine{Verdict: policy.Verdict{Effect: policy.Allow}}}),
		}, nil, Counters{}},
		"verdicts": {
			[]Evidence{left(judged(0, policy.Allow)), left(judged(0, policy.Deny)), left(judged(0, policy.Deny))},
			[]FilterCounters{{FilterPlace: first, Counters: Counters{Allowed: 1, Denied: 2}}}, Counters{Allowed: 1, Denied: 2},
		},
		"shadows": {[]Evidence{
			left(shadowed(judged(0, policy.Allow), policy.Deny)), left(shadowed(judged(0, policy.Deny), policy.Deny)),
			left(shadowed(judged(0, policy.Allow), policy.Allow)), left(shadowed(xds.FilterLog{}, policy.Allow)),
		}, []FilterCounters{{FilterPlace: first, Counters: Counters{Allowed: 2, Denied: 1, ShadowAllowed: 2, ShadowDenied: 2}}}, Counters{Allowed: 2, Denied: 1, ShadowAllowed: 2, ShadowDenied: 2}},
		"filter by filter": {[]Evidence{
			left(judged(0, policy.Allow), judged(1, policy.Deny)), left(judged(0, policy.Deny)), left(judged(0, policy.Allow), judged(1, policy.Allow)),
		}, []FilterCounters{
			{FilterPlace: first, Counters: Counters{Allowed: 2, Denied: 1}},
			{FilterPlace: second, Counters: Counters{Allowed: 1, Denied: 1}},
		}, Counters{Allowed: 3, Denied: 2}},
		"a filter that only logs": {
			[]Evidence{left(logged("audit"), judged(0, policy.Allow)), left(logged(""))},
			[]FilterCounters{
				{FilterPlace: first, Counters: Counters{Allowed: 1}},
				{FilterPlace: logged("").FilterPlace, Counters: Counters{Allowed: 2}, Logged: 1},
			}, Counters{Allowed: 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := Count(tt.es)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("filters (-want +got):\n%s", diff)
			}
			if sum := Sum(got); sum != tt.sum {
				t.Errorf("sum: got  %s\nwant %s", sum, tt.sum)
			}
		})
	}
}

func TestCountersSpeakEnvoysWords(t *testing.T) {
	t.Parallel()
	const want = "allowed 1, denied 2, shadow_allowed 3, shadow_denied 4"
	of := FilterCounters{FilterPlace: xds.FilterPlace{Layer: policy.L7, Index: 2}, Counters: Counters{Allowed: 1, Denied: 2, ShadowAllowed: 3, ShadowDenied: 4}}
	if got := of.Counters.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := of.String(); got != "filter 2 on L7: "+want {
		t.Errorf("of a filter: %q", got)
	}
	of.Logs, of.Logged = true, 5
	if got := of.String(); got != "filter 2 on L7, which only logs: "+want+", logged 5" {
		t.Errorf("of a filter that logs: %q", got)
	}
}
