package verdict

import (
	"fmt"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/policy"
)

// Contradiction says what of a case's statement about a request the policies do not bear
// out, "" where there is nothing. It asks no Envoy: it holds the oracle and the plain
// evaluator against what a person wrote.
func (in Inbound) Contradiction(q cases.Request) string {
	expected := in.Expect(q)
	switch x := expected.(type) {
	case Disputed:
		return fmt.Sprintf(texts[OtherOpinion], x.Oracle, x.Reading)
	case Judged:
		if x.Second != x.Decision {
			return fmt.Sprintf(texts[OtherOpinion], fmt.Sprintf("%#v", x.Decision), fmt.Sprintf("%#v", x.Second))
		}
	}
	if !bears(expected, q.Want) || findsRoute(expected, q) {
		return fmt.Sprintf("the case wants %s, meshproof expects %s", q.Want, Want(expected))
	}
	x, ok := expected.(Judged)
	if !ok {
		return ""
	}
	d := x.Decision
	shadow := cases.ShadowNone
	if d.Shadowed {
		shadow = cases.ShadowDeny
		if d.Shadow.Effect == policy.Allow {
			shadow = cases.ShadowAllow
		}
	}
	switch {
	case q.By != nil && *q.By != d.Origin:
		return fmt.Sprintf("the case wants it decided by %s, meshproof says %s", *q.By, nameOf(d.Verdict))
	case q.Shadow != nil && *q.Shadow != shadow:
		return fmt.Sprintf("the case wants shadow %s, meshproof says %s", *q.Shadow, shadow)
	case q.ShadowBy != nil && *q.ShadowBy != d.Shadow.Origin:
		return fmt.Sprintf("the case wants the shadow decided by %s, meshproof says %s", *q.ShadowBy, nameOf(d.Shadow))
	}
	return ""
}

// findsRoute reports whether a route takes a request which, as the case says, none does: that is a decision too.
func findsRoute(expected Expectation, q cases.Request) bool {
	status, _ := q.Want.Status()
	x, judged := expected.(Judged)
	return judged && status == 404 && x.Decision.Effect != policy.NoRoute
}

// bears reports whether a request that must become what is expected can become what the
// case wants. An authorizer alone chooses the status of a refusal: every other status that a
// listener gives is [Rejected], so that a request which the policies judge has none.
func bears(expected Expectation, want cases.Want) bool {
	status, isStatus := want.Status()
	switch x := expected.(type) {
	case HandshakeFails:
		return want == cases.HandshakeFailure || want == cases.Refused
	case Rejected:
		return want == Want(x) || want == cases.Refused
	case Unjudged:
		return want == cases.Allow || isStatus && status != 403
	case Judged:
		switch {
		case x.Decision.Effect == policy.NoRoute:
			return status == 404
		case isStatus && status != 403:
			return x.Asked && x.Decision.Effect == policy.Deny
		case x.Decision.Effect == policy.Allow:
			return want == cases.Allow
		case want == cases.Close:
			return x.Decision.Layer == policy.L4
		case isStatus:
			return x.Decision.Layer == policy.L7
		default:
			return want == cases.Deny || want == cases.Refused
		}
	default:
		return false
	}
}
