package evidence

import (
	"fmt"

	"github.com/meshproof/meshproof/policy"
)

// Counters are the four RBAC counters of an inbound, or what they moved by.
type Counters struct {
	Allowed, Denied, ShadowAllowed, ShadowDenied uint64
}

// String returns them in Envoy's spelling.
func (c Counters) String() string {
	return fmt.Sprintf("allowed %d, denied %d, shadow_allowed %d, shadow_denied %d", c.Allowed, c.Denied, c.ShadowAllowed, c.ShadowDenied)
}

// Sub returns what the counters moved by since before.
func (c Counters) Sub(before Counters) Counters {
	return Counters{
		Allowed:       c.Allowed - before.Allowed,
		Denied:        c.Denied - before.Denied,
		ShadowAllowed: c.ShadowAllowed - before.ShadowAllowed,
		ShadowDenied:  c.ShadowDenied - before.ShadowDenied,
	}
}

// Count returns what the counters must have moved by if the findings are true:
// each judged request moves one of the first two by one, and where a shadow ran
// one of the other two.
func Count(findings []Finding) Counters {
	var c Counters
	for _, f := range findings {
		if f.Judged {
			add(f.Verdict.Effect, &c.Allowed, &c.Denied)
		}
		if f.Shadow.Ran {
			add(f.Shadow.Verdict.Effect, &c.ShadowAllowed, &c.ShadowDenied)
		}
	}
	return c
}

func add(effect policy.Effect, allowed, denied *uint64) {
	if effect == policy.Allow {
		*allowed++
	} else {
		*denied++
	}
}
