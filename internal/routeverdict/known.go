package routeverdict

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"

	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/internal/exchange"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/policy"
)

// Contradiction says what the case states of a request and the expectation does not, "" for nothing. People wrote the cases,
// so that an answer of theirs does not share the mistakes of the program and of the plain evaluator.
func (x Expectation) Contradiction(p casefile.RoutedRequest) string {
	some := func(holds func(Outcome) bool) bool { return slices.ContainsFunc(x.Outcomes, holds) }
	switch {
	case x.Unclear != nil:
		return fmt.Sprintf("the case states an end of the request, meshproof expects none: %v", x.Unclear)
	case len(x.Outcomes) == 0:
		return "the case states an end of the request, meshproof expects none: no backend has a weight"
	case p.Want != "" && !some(func(o Outcome) bool { return o.meets(p.Want, x.spoken) }):
		return fmt.Sprintf("the case wants %s, meshproof expects %s", p.Want, x.Outcomes[0].stated(x.spoken))
	case p.Route != nil && x.Outbound.Protocol.Layer() == policy.L7 && !routeMeets(*p.Route, x.Decision.Route):
		return fmt.Sprintf("the case states the route %s, meshproof expects %s", nameOf(*p.Route), nameOf(x.Decision.Route))
	case p.Backends != nil && !some(func(o Outcome) bool { return slices.Contains(p.Backends, o.Inbound) }):
		return fmt.Sprintf("the case states the backend %s, meshproof expects %s", strings.Join(p.Backends, " or "), strings.Join(x.backends(), " or "))
	case p.Cause != nil && !some(func(o Outcome) bool { return o.Cause == *p.Cause }):
		return fmt.Sprintf("the case states the cause %s, meshproof expects %s", *p.Cause, withTime(x.Outcomes[0]))
	case p.By != nil && !some(func(o Outcome) bool { return o.Verdict != nil && o.Verdict.Origin == *p.By }):
		return fmt.Sprintf("the case states that %s decides, and meshproof does not", *p.By)
	}
	return ""
}

// meets reports whether the outcome is what the case wants, as [meets] does for an answer.
func (o Outcome) meets(want casefile.End, protocol policy.Protocol) bool {
	stated := o.stated(protocol)
	switch {
	case stated == want:
		return true
	case want == casefile.Allow:
		return protocol == policy.TCP && o.Cause == routing.Answered || o.End == exchange.Complete && o.Status == 200 && o.GRPC == codes.OK
	default:
		// Over tcp it depends on the bytes under way which of the two the caller sees.
		return protocol == policy.TCP && slices.Contains(unanswered, want) && slices.Contains(unanswered, stated)
	}
}

var unanswered = []casefile.End{casefile.Close, casefile.Reset}
