package inspect

import (
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/lint"
	"github.com/meshproof/meshproof/policy/kuma/internal/selection"
)

// Reason says what kind of finding a [Warning] is.
type Reason string

const (
	// Ignored: the policy does not apply here. The message says why.
	Ignored Reason = "ignored"
	// Idle: the policy applies to no inbound of the mesh.
	Idle Reason = "idle"
	// Hidden: denies take every request of an allow of the policy.
	Hidden Reason = "hidden"
	// Lint: the policy may not do what its author means.
	Lint Reason = "lint"
)

// Warning is a finding about one policy.
type Warning struct {
	Reason Reason `json:"reason"`
	// KRI names the policy.
	KRI string `json:"kri"`
	// Place is file, line and field.
	Place   string `json:"place"`
	Message string `json:"message"`
}

func newWarning(reason Reason, w policy.Warning) Warning {
	return Warning{Reason: reason, KRI: w.Policy, Place: w.Place, Message: w.Message}
}

// inboundWarnings returns the warnings of the policies that apply, then one for each
// policy that does not. The list is never nil.
func (r *Resources) inboundWarnings(m *mesh, sel selection.Selection, in policy.Inbound) []Warning {
	out := m.selectedWarnings(sel)
	if in.Protocol.Layer() == policy.L4 {
		for _, w := range lint.BlindSpots(sel.Policies, in) {
			out = append(out, newWarning(Lint, w))
		}
	}
	return append(out, m.ignoredWarnings(sel)...)
}

func (m *mesh) selectedWarnings(sel selection.Selection) []Warning {
	out := []Warning{}
	for _, p := range sel.Policies {
		out = append(out, m.about[p.String()]...)
	}
	return out
}

func (m *mesh) ignoredWarnings(sel selection.Selection) []Warning {
	out := make([]Warning, 0, len(sel.Ignored))
	for _, ignored := range sel.Ignored {
		w, idle := m.idle[ignored.Policy.String()]
		if !idle {
			w = Warning{Reason: Ignored, KRI: ignored.Policy.String(), Place: ignored.Policy.Place(), Message: ignored.Reason}
		}
		out = append(out, w)
	}
	return out
}
