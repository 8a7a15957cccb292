package evidence

import (
	"testing"

	"github.com/meshproof/meshproof/policy"
)

func TestCount(t *testing.T) {
	t.Parallel()
	judged := func(effect policy.Effect) Finding {
		return Finding{Judged: true, Verdict: policy.Verdict{Effect: effect}}
	}
	shadowed := func(f Finding, effect policy.Effect) Finding {
		f.Shadow.Ran, f.Shadow.Verdict.Effect = true, effect
		return f
	}
	for name, tt := range map[string]struct {
		findings []Finding
		want     Counters
	}{
		"nothing": {nil, Counters{}},
		"unjudged": {[]Finding{
			{Form: HandshakeFailed}, {Form: Served}, {Form: Rejected},
			// Verdicts of engines that did not run say nothing.
			{Verdict: policy.Verdict{Effect: policy.Allow}},
		}, Counters{}},
		"verdicts": {[]Finding{judged(policy.Allow), judged(policy.Deny), judged(policy.Deny)}, Counters{Allowed: 1, Denied: 2}},
		"shadows": {[]Finding{
			shadowed(judged(policy.Allow), policy.Deny), shadowed(judged(policy.Deny), policy.Deny), shadowed(judged(policy.Allow), policy.Allow),
			shadowed(Finding{}, policy.Allow),
		}, Counters{Allowed: 2, Denied: 1, ShadowAllowed: 2, ShadowDenied: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Count(tt.findings); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestCountersSub(t *testing.T) {
	t.Parallel()
	got := Counters{Allowed: 5, Denied: 7, ShadowAllowed: 11, ShadowDenied: 13}.Sub(Counters{Allowed: 1, Denied: 2, ShadowAllowed: 3, ShadowDenied: 4})
	if want := (Counters{Allowed: 4, Denied: 5, ShadowAllowed: 8, ShadowDenied: 9}); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestCountersSpeakEnvoysWords(t *testing.T) {
	t.Parallel()
	const want = "allowed 1, denied 2, shadow_allowed 3, shadow_denied 4"
	if got := (Counters{Allowed: 1, Denied: 2, ShadowAllowed: 3, ShadowDenied: 4}).String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
