package policy

// Decision is what becomes of a request, and what the shadow says of it.
type Decision struct {
	// Verdict is the effective one. For a denied request its origin is that of the
	// first gate that denied, for an allowed one that of the last gate.
	Verdict
	// Layer is that of the gate that decided; it gives a refusal its form.
	Layer Layer
	// Shadowed tells whether a shadow engine ran at all.
	Shadowed bool
	// Shadow is the shadow's verdict; the zero value where none ran.
	Shadow Verdict
}

// Decide judges one request. It is the oracle: Envoy, asked with the filters
// compiled from the same program, must answer the same.
func Decide(p Program, r Request) Decision {
	var d Decision
	gates, shadows := p.routed(&r)
	d.Verdict, d.Layer = pass(gates, &r)
	if len(shadows) > 0 {
		d.Shadowed = true
		d.Shadow, _ = pass(shadows, &r)
	}
	return d
}

func pass(gates []Gate, r *Request) (Verdict, Layer) {
	verdict, layer := Verdict{Effect: Allow}, L4
	for _, gate := range gates {
		verdict, layer = gate.verdict(r), gate.Layer
		if verdict.Effect == Deny {
			break
		}
	}
	return verdict, layer
}

func (g Gate) verdict(r *Request) Verdict {
	return first(g.Rules, g.Default, r)
}

func first(rules []Rule, fallback Verdict, r *Request) Verdict {
	for _, rule := range rules {
		if rule.Matches(r) {
			return first(rule.Then, rule.Verdict, r)
		}
	}
	return fallback
}
