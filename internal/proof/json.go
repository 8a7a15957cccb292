package proof

import (
	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/routeproof"
	"github.com/meshproof/meshproof/internal/terminal"
)

// JSON is the JSON form of a [Report].
type JSON struct {
	Envoy    string          `json:"envoy"`
	Runtime  string          `json:"runtime"`
	Classes  *report.Classes `json:"classes"`
	Sentence string          `json:"sentence"`
	// Holds is whether the exit status is 0. A case may hold where the whole does not.
	Holds           bool       `json:"holds"`
	Cases           []caseJSON `json:"cases"`
	Counterexamples []string   `json:"counterexamples,omitempty"`
	Unasked         []string   `json:"unasked,omitempty"`
	// Warnings are about the files, and about no inbound.
	Warnings []string `json:"warnings,omitempty"`
	// Assumed says which inbound no file describes.
	Assumed string `json:"assumed,omitempty"`
	// LeftOut counts the documents that are not read, by kind.
	LeftOut string `json:"leftOut,omitempty"`
	// Made are the callers that no file describes.
	Made []string `json:"madeCallers,omitempty"`
	// Routes are the proofs of what workloads send.
	Routes *routeproof.JSON `json:"routes,omitempty"`
	// RestsOn is what the proof takes for granted.
	RestsOn *knownJSON `json:"restsOn,omitempty"`
}

type caseJSON struct {
	Case     string        `json:"case"`
	Holds    bool          `json:"holds"`
	Error    string        `json:"error,omitempty"`
	Inbounds []inboundJSON `json:"inbounds"`
	Warnings []string      `json:"warnings,omitempty"`
	Notes    []string      `json:"notes,omitempty"`
	Own      *ownJSON      `json:"own,omitempty"`
}

// ownJSON is what became of the case's own requests.
type ownJSON struct {
	Requests int      `json:"requests"`
	Passed   bool     `json:"passed"`
	Skipped  string   `json:"skipped,omitempty"`
	Problems []string `json:"problems,omitempty"`
}

type inboundJSON struct {
	Inbound     string            `json:"inbound"`
	Made        string            `json:"made,omitempty"`
	Protocol    string            `json:"protocol"`
	Requests    int               `json:"requests"`
	Sampled     []string          `json:"sampled,omitempty"`
	Classes     []classJSON       `json:"classes"`
	Rules       []ruleJSON        `json:"rules"`
	Unreachable []unreachableJSON `json:"unreachable,omitempty"`
}

type classJSON struct {
	Class    string `json:"class"`
	Proven   bool   `json:"proven"`
	Decision string `json:"decision"`
	By       string `json:"by"`
	Shadow   string `json:"shadow"`
	Rule     string `json:"rule,omitempty"`
	result.Witness
	Requests int      `json:"requests"`
	Problems []string `json:"problems,omitempty"`
}

type ruleJSON struct {
	Rule     string   `json:"rule"`
	Layer    string   `json:"layer"`
	Shadow   bool     `json:"shadow,omitempty"`
	Route    string   `json:"route,omitempty"`
	Met      int      `json:"met,omitempty"`
	Decided  int      `json:"decided"`
	Dead     bool     `json:"dead,omitempty"`
	HiddenBy []string `json:"hiddenBy,omitempty"`
}

type unreachableJSON struct {
	Cell   string `json:"cell"`
	Reason string `json:"reason"`
}

// Form returns the JSON form of the report.
func (r *Report) Form() JSON {
	out := JSON{Envoy: r.Envoy, Runtime: r.Runtime, Classes: r.Classes(), Sentence: r.Sentence(), Holds: r.Holds(), Cases: []caseJSON{}, Unasked: r.Unasked, Warnings: r.Warnings, Made: r.Made, Assumed: r.Assumed, LeftOut: r.LeftOut, Routes: r.Routes.Form()}
	if r.Known != nil {
		out.RestsOn = r.Known.form()
	}
	for _, c := range r.Counterexamples {
		out.Counterexamples = append(out.Counterexamples, c.File)
	}
	for _, p := range r.Cases {
		out.Cases = append(out.Cases, p.form())
	}
	return out
}

// MarshalJSON implements [json.Marshaler].
func (r *Report) MarshalJSON() ([]byte, error) { return terminal.MarshalJSON(r.Form()) }

func (p Proven) form() caseJSON {
	out := caseJSON{Case: p.Result.Case.Name, Holds: p.Holds(), Inbounds: []inboundJSON{}, Notes: p.Result.Notes}
	if p.Err != nil {
		out.Error = p.Err.Error()
	}
	for _, w := range p.Result.Warnings {
		out.Warnings = append(out.Warnings, w.String())
	}
	for _, in := range p.Inbounds {
		out.Inbounds = append(out.Inbounds, in.form())
	}
	if own := p.Stated; own != nil {
		out.Own = &ownJSON{Requests: len(own.Case.Requests) + len(own.Case.RoutedRequests), Passed: own.Passed(), Skipped: own.Skipped, Problems: own.Failures()}
	}
	return out
}

func (in InboundVerdict) form() inboundJSON {
	out := inboundJSON{
		Inbound: in.Inbound.String(), Made: in.Inbound.Made, Protocol: in.Inbound.Protocol.String(), Requests: in.Requests, Sampled: in.Inbound.Cover.Sampled, Classes: []classJSON{}, Rules: []ruleJSON{},
	}
	for _, c := range in.Classes {
		j := classJSON{
			Class: c.Text, Proven: c.Proven, Decision: c.Decision.Effect.String(), By: c.Decision.Origin, Shadow: "none", Rule: c.Witness.Rule,
			Witness: result.WitnessOf(c.Witness.Request), Requests: c.Requests, Problems: c.Witness.ProblemTexts(),
		}
		if c.Decision.Shadowed {
			j.Shadow = c.Decision.Shadow.Effect.String()
		}
		out.Classes = append(out.Classes, j)
	}
	for _, r := range in.Rules {
		out.Rules = append(out.Rules, ruleJSON{
			Rule: r.String(), Layer: r.Gate.String(), Shadow: r.Shadow, Route: r.Route, Met: r.Met, Decided: r.Decided, Dead: r.Dead(), HiddenBy: r.HiddenBy,
		})
	}
	for _, u := range in.unreachable() {
		out.Unreachable = append(out.Unreachable, unreachableJSON{u.Cell, u.Reason.Error()})
	}
	return out
}
