package main

import (
	"io"

	"github.com/meshproof/meshproof/internal/proof"
	"github.com/meshproof/meshproof/internal/terminal"
)

// The JSON form of a diff.
type jsonDiff struct {
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
	Inbounds []jsonInboundChange `json:"inbounds"`
	Changes  []jsonChange        `json:"changes"`
	// Errors are why a case as a whole could not be shown on Envoy.
	Errors []string `json:"errors,omitempty"`
}

// jsonInboundChange is an inbound that is not what it was.
type jsonInboundChange struct {
	Case   string `json:"case"`
	Change string `json:"change"`
	Widens bool   `json:"widens"`
}

type jsonChange struct {
	Case     string      `json:"case"`
	Inbound  string      `json:"inbound"`
	Kind     string      `json:"kind"`
	Class    string      `json:"class"`
	From     string      `json:"from"`
	Method   string      `json:"method,omitempty"`
	Path     string      `json:"path,omitempty"`
	Old      jsonOpinion `json:"old"`
	New      jsonOpinion `json:"new"`
	Problems []string    `json:"problems,omitempty"`
}

type jsonOpinion struct {
	Decision     string `json:"decision"`
	By           string `json:"by"`
	Rule         string `json:"rule,omitempty"`
	Shadow       string `json:"shadow"`
	ShadowBy     string `json:"shadowBy,omitempty"`
	ShadowedRule string `json:"shadowRule,omitempty"`
}

func opinionJSON(o proof.Opinion) jsonOpinion {
	out := jsonOpinion{Decision: o.Decision.Effect.String(), By: o.Decision.Origin, Rule: o.Reason, Shadow: "none"}
	if o.Decision.Shadowed {
		out.Shadow, out.ShadowBy, out.ShadowedRule = o.Decision.Shadow.Effect.String(), o.Decision.Shadow.Origin, o.ShadowReason
	}
	return out
}

func (d *difference) writeJSON(w io.Writer) error {
	counts := d.counts()
	classes, complete := d.classes()
	out := jsonDiff{
		Sentence: d.sentence(), Classes: classes, Complete: complete,
		OnlyOld: append([]string{}, d.onlyOld...), OnlyNew: append([]string{}, d.onlyNew...), Inbounds: []jsonInboundChange{},
		Widened: counts[proof.Widened], Narrowed: counts[proof.Narrowed],
		Shadow: counts[proof.ShadowChanged], Origin: counts[proof.OriginChanged], Envoy: d.envoy, Changes: []jsonChange{},
	}
	for _, one := range d.all {
		for _, in := range one.inbounds {
			out.Inbounds = append(out.Inbounds, jsonInboundChange{Case: one.subject(), Change: in.text, Widens: in.widens})
		}
		out.Errors = append(out.Errors, one.errors()...)
		asked := 0
		for _, found := range one.found {
			for _, c := range found.Changes {
				j := jsonChange{
					Case: one.subject(), Inbound: found.Inbound.String(), Kind: c.Kind().String(), Class: c.Text,
					From: c.Request.From.Name, Method: c.Witness.Method, Path: c.Witness.Path, Old: opinionJSON(c.Old), New: opinionJSON(c.New),
				}
				for _, shown := range one.shown(asked) {
					j.Problems = append(j.Problems, shown.ProblemTexts()...)
				}
				out.Changes = append(out.Changes, j)
				asked++
			}
		}
	}
	return terminal.WriteJSON(w, out)
}
