package policy

import (
	"net/netip"
	"sync"
)

// Decision is what becomes of a request, and what the shadows say of it. [Explain] says
// the same gate by gate.
type Decision struct {
	// Verdict is the verdict of the gate that decides: the gate that denies the request, or else
	// the last gate. A gate that only logs does not count.
	Verdict
	// Layer is the layer of the gate that decides. It gives a refusal its form.
	Layer Layer
	// Shadowed tells whether a shadow engine ran at all.
	Shadowed bool
	// Shadow is the verdict of the first shadow that denies, or else of the last. It is the
	// zero value where no shadow ran.
	Shadow Verdict
}

// Decide judges one request. It is the oracle: Envoy, asked with the filters
// compiled from the same program, must answer the same.
func Decide(p Program, r Request) Decision {
	asked := requests.Get().(*Request)
	*asked = r
	d := decide(p, asked)
	*asked = Request{}
	requests.Put(asked)
	return d
}

// requests keeps places on the heap for the next requests. A request has to lie there, since
// conditions get a pointer to it. A new place for each took a third of the time of a short decision.
var requests = sync.Pool{New: func() any { return new(Request) }}

func decide(p Program, r *Request) Decision {
	d := Decision{Verdict: Verdict{Effect: Allow}}
	gates, shadows, served := p.routed(r)
	decides, verdict, passed := pass(gates, r)
	if decides >= 0 {
		d.Verdict, d.Layer = verdict, gates[decides].Layer
	}
	if !served && d.Effect != Deny {
		d.Verdict, d.Layer = Verdict{Effect: NoRoute}, L7
	}
	if decides, verdict = observe(shadows, gates, passed, r); decides >= 0 {
		d.Shadowed, d.Shadow = true, verdict
	}
	return d
}

// pass asks the gates in order. It returns the index of the gate that decides, which is
// -1 where none does, and the number of gates that let the request pass.
func pass(gates []Gate, r *Request) (decides int, verdict Verdict, passed int) {
	decides = -1
	for i := range gates {
		if gates[i].Logs() {
			continue
		}
		decides, verdict = i, gates[i].verdict(r)
		if verdict.Effect == Deny {
			return decides, verdict, i
		}
	}
	return decides, verdict, len(gates)
}

// observe asks the shadows in order, after a number of gates let the request pass. It
// returns the index of the shadow whose verdict stands for all, which is -1 where Envoy asks
// no shadow.
func observe(shadows, gates []Gate, passed int, r *Request) (decides int, verdict Verdict) {
	decides = -1
	for i := range shadows {
		if shadows[i].Position(gates) > passed {
			continue
		}
		decides, verdict = i, shadows[i].verdict(r)
		if verdict.Effect == Deny {
			break
		}
	}
	return decides, verdict
}

func (g *Gate) verdict(r *Request) Verdict {
	return first(g.Rules, g.Default, g.seen(r))
}

// seen returns the request as the gate sees it: on L4 no header has been read, so the remote
// address is the address of the connection.
func (g *Gate) seen(r *Request) *Request {
	if g.Layer != L4 || !r.Remote.IsValid() {
		return r
	}
	out := *r
	out.Remote = netip.Addr{}
	return &out
}

func first(rules []Rule, fallback Verdict, r *Request) Verdict {
	for i := range rules {
		if rule := &rules[i]; holds(rule.When, r) {
			return first(rule.Then, rule.Verdict, r)
		}
	}
	return fallback
}
