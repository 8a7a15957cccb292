package diff

import (
	"fmt"

	"github.com/meshproof/meshproof/internal/manifestdiff"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/routediff"
	"github.com/meshproof/meshproof/internal/terminal"
)

// differenceJSON is the JSON form of a diff.
type differenceJSON struct {
	Sentence string `json:"sentence"`
	// Classes is how many there are, Complete whether no other request changes.
	Classes  int    `json:"classes"`
	Complete bool   `json:"complete"`
	Widened  int    `json:"widened"`
	Narrowed int    `json:"narrowed"`
	Shadow   int    `json:"shadow"`
	Origin   int    `json:"origin"`
	Envoy    string `json:"envoy,omitempty"`
	// OnlyOld and OnlyNew are the cases that were not compared.
	OnlyOld  []string            `json:"onlyOld"`
	OnlyNew  []string            `json:"onlyNew"`
	Inbounds []inboundChangeJSON `json:"inbounds"`
	Changes  []changeJSON        `json:"changes"`
	// Assumed is the inbound that was asked because no file describes one, Made are the inbounds that
	// no file describes, Unasked the policies that select none.
	Assumed string   `json:"assumed,omitempty"`
	Made    []string `json:"made,omitempty"`
	Unasked []string `json:"unasked,omitempty"`
	// Unread are the changes beside the policies, which are not read.
	Unread []manifestdiff.Change `json:"unread,omitempty"`
	// Passed are the other changes beside the policies, which cannot matter, and Denied all others that the
	// flag denies.
	Passed   []manifestdiff.Passed `json:"passed,omitempty"`
	Denied   []manifestdiff.Passed `json:"denied,omitempty"`
	Warnings []string              `json:"warnings,omitempty"`
	Notes    []string              `json:"notes,omitempty"`
	// Routes is the effect on the requests that workloads send.
	Routes *routediff.Difference `json:"routes,omitempty"`
	// Verdict is whether the change passes, and why not. Fails is what the exit status says.
	Verdict string `json:"verdict"`
	Fails   bool   `json:"fails"`
	// Errors say why Envoy could not show a case.
	Errors []string `json:"errors,omitempty"`
}

// inboundChangeJSON is an inbound that changed.
type inboundChangeJSON struct {
	Case   string `json:"case"`
	Change string `json:"change"`
	Widens bool   `json:"widens"`
}

type changeJSON struct {
	Case    string `json:"case"`
	Inbound string `json:"inbound"`
	Kind    string `json:"kind"`
	Class   string `json:"class"`
	result.Witness
	Old      opinionJSON `json:"old"`
	New      opinionJSON `json:"new"`
	Problems []string    `json:"problems,omitempty"`
	// Explain is the command that explains the request by the new policies.
	Explain string `json:"explain,omitempty"`
}

type opinionJSON struct {
	Decision     string `json:"decision"`
	By           string `json:"by"`
	Rule         string `json:"rule,omitempty"`
	Place        string `json:"place,omitempty"`
	Shadow       string `json:"shadow"`
	ShadowBy     string `json:"shadowBy,omitempty"`
	ShadowedRule string `json:"shadowRule,omitempty"`
	ShadowPlace  string `json:"shadowPlace,omitempty"`
}

func newOpinionJSON(o Opinion) opinionJSON {
	out := opinionJSON{Decision: o.Decision.Effect.String(), By: o.Decision.Origin, Rule: o.Reason, Place: o.Place, Shadow: "none", ShadowPlace: o.ShadowPlace}
	if o.Decision.Shadowed {
		out.Shadow, out.ShadowBy, out.ShadowedRule = o.Decision.Shadow.Effect.String(), o.Decision.Shadow.Origin, o.ShadowReason
	}
	return out
}

// MarshalJSON implements [json.Marshaler].
func (d *Difference) MarshalJSON() ([]byte, error) {
	counts := d.counts()
	out := differenceJSON{
		Sentence: d.Sentence(), Classes: d.classes(), Complete: len(d.sampled()) == 0,
		OnlyOld: append([]string{}, d.OnlyOld...), OnlyNew: append([]string{}, d.OnlyNew...), Inbounds: []inboundChangeJSON{},
		Widened: counts[Widened], Narrowed: counts[Narrowed],
		Shadow: counts[ShadowChanged], Origin: counts[OriginChanged], Envoy: d.Envoy, Changes: []changeJSON{},
		Assumed: d.Assumed, Made: d.made(), Unasked: texts(d.Unasked), Unread: d.Unread, Passed: d.Passed, Denied: d.denied(), Warnings: texts(d.Warnings), Routes: d.Routes, Verdict: d.Verdict(), Fails: len(d.Failures()) > 0,
	}
	for _, one := range d.Cases {
		for _, in := range one.Inbounds {
			out.Inbounds = append(out.Inbounds, inboundChangeJSON{Case: one.New.Name, Change: in.Text, Widens: in.Widens != ""})
		}
		out.Errors, out.Notes = append(out.Errors, one.errors()...), append(out.Notes, one.notes()...)
		asked := 0
		for _, found := range one.Comparisons {
			var arguments []string
			if len(found.Changes) > 0 {
				arguments = d.argumentsOf(one, found)
			}
			for _, c := range found.Changes {
				j := changeJSON{
					Case: one.New.Name, Inbound: found.Inbound.String(), Kind: c.Kind().String(), Class: c.Text,
					Witness: result.WitnessOf(c.Request), Old: newOpinionJSON(c.Old), New: newOpinionJSON(c.New),
				}
				shown := one.shown(asked)
				for _, q := range shown {
					j.Problems = append(j.Problems, q.ProblemTexts()...)
				}
				j.Explain = explain(one, arguments, c, shown)
				out.Changes = append(out.Changes, j)
				asked++
			}
		}
	}
	return terminal.MarshalJSON(out)
}

func texts[T fmt.Stringer](all []T) []string {
	var out []string
	for _, one := range all {
		out = append(out, one.String())
	}
	return out
}
