package routeverdict

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/internal/exchange"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/policy"
)

// State returns the request of the expectation with what must become of it, as a case file states
// it: its end, route, backends and cause. It returns false where a file cannot state it, because
// the backends end the request differently or nothing is clear.
func (x Expectation) State(r casefile.RoutedRequest) (casefile.RoutedRequest, bool) {
	if x.Unclear != nil || len(x.Outcomes) == 0 {
		return r, false
	}
	first := x.Outcomes[0]
	r.Want, r.Cause, r.Backends, r.By = first.stated(x.spoken), &first.Cause, nil, nil
	for _, o := range x.Outcomes {
		if o.stated(x.spoken) != r.Want || o.Cause != first.Cause {
			return r, false
		}
		if o.Inbound != "" {
			r.Backends = append(r.Backends, o.Inbound)
		}
	}
	if len(r.Backends) != len(x.Outcomes) {
		r.Backends = nil
	}
	if r.Route = nil; x.Outbound.Protocol.Layer() == policy.L7 {
		r.Route = &x.Decision.Route
	}
	return r, true
}

// divided says that a request may end otherwise than the case states, because it takes one of several
// backends. It would pass by chance.
func (x Expectation) divided(p casefile.RoutedRequest) error {
	first := x.Outcomes[:min(len(x.Outcomes), 1)]
	for _, o := range x.Outcomes {
		at := cmp.Or(o.Inbound, "a backend without an inbound")
		switch {
		case p.Backends != nil && !slices.Contains(p.Backends, o.Inbound):
			if len(x.Outcomes) > 1 && slices.ContainsFunc(x.Outcomes, func(o Outcome) bool { return slices.Contains(p.Backends, o.Inbound) }) {
				return fmt.Errorf("the case states the backend %s, and the request may take %s too: state each of them", strings.Join(p.Backends, " or "), at)
			}
		case p.Want != "" && o.stated(x.spoken) != first[0].stated(x.spoken), p.Cause != nil && o.Cause != first[0].Cause,
			p.By != nil && o.Verdict != nil && first[0].Verdict != nil && o.Verdict.Origin != first[0].Verdict.Origin:
			return fmt.Errorf("the request may take %s or %s, which end it differently, so that the case would pass by chance: send it to a service with one of them", cmp.Or(first[0].Inbound, "a backend without an inbound"), at)
		}
	}
	return nil
}

// stated is the end as a case file has it.
func (o Outcome) stated(protocol policy.Protocol) casefile.End {
	switch {
	case protocol != policy.TCP && o.End == exchange.Cut:
		return casefile.Cut
	case protocol == policy.GRPC && o.Status == 200:
		return casefile.End(strings.ToUpper(inWord.ReplaceAllString(o.GRPC.String(), "${1}_$2")))
	case protocol != policy.TCP:
		return casefile.End(fmt.Sprint(o.Status))
	case o.Cause == routing.Answered:
		return casefile.Allow
	case o.Cause == routing.Denied || o.Cause == routing.Bounded(routing.Idle):
		return casefile.Close
	case o.End == exchange.Cut:
		return casefile.Cut
	default:
		return casefile.Reset
	}
}

// inWord finds the border of two words in the name of a gRPC status, such as PermissionDenied.
var inWord = regexp.MustCompile(`([a-z])([A-Z])`)
