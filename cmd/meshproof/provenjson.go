package main

import (
	"io"

	"github.com/meshproof/meshproof/internal/proof"
	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/terminal"
)

// The JSON form of a proof.
type jsonProof struct {
	Envoy           string          `json:"envoy"`
	Runtime         string          `json:"runtime"`
	Classes         *report.Classes `json:"classes"`
	Sentence        string          `json:"sentence"`
	Cases           []jsonProven    `json:"cases"`
	Counterexamples []string        `json:"counterexamples,omitempty"`
}

type jsonProven struct {
	Case     string        `json:"case"`
	Holds    bool          `json:"holds"`
	Error    string        `json:"error,omitempty"`
	Inbounds []jsonInbound `json:"inbounds"`
	Warnings []string      `json:"warnings,omitempty"`
}

type jsonInbound struct {
	Inbound     string            `json:"inbound"`
	Protocol    string            `json:"protocol"`
	Requests    int               `json:"requests"`
	Sampled     []string          `json:"sampled,omitempty"`
	Classes     []jsonClass       `json:"classes"`
	Rules       []jsonProvenRule  `json:"rules"`
	Unreachable []jsonUnreachable `json:"unreachable,omitempty"`
}

type jsonClass struct {
	Class    string   `json:"class"`
	Proven   bool     `json:"proven"`
	Decision string   `json:"decision"`
	By       string   `json:"by"`
	Shadow   string   `json:"shadow"`
	Rule     string   `json:"rule,omitempty"`
	From     string   `json:"from"`
	Method   string   `json:"method,omitempty"`
	Path     string   `json:"path,omitempty"`
	Requests int      `json:"requests"`
	Problems []string `json:"problems,omitempty"`
}

type jsonProvenRule struct {
	Rule     string   `json:"rule"`
	Layer    string   `json:"layer"`
	Shadow   bool     `json:"shadow,omitempty"`
	Route    string   `json:"route,omitempty"`
	Met      int      `json:"met,omitempty"`
	Decided  int      `json:"decided"`
	Dead     bool     `json:"dead,omitempty"`
	HiddenBy []string `json:"hiddenBy,omitempty"`
}

type jsonUnreachable struct {
	Cell   string `json:"cell"`
	Reason string `json:"reason"`
}

func (p *provenAll) json() jsonProof {
	out := jsonProof{Envoy: p.envoy, Runtime: p.runtime, Classes: p.classes(), Sentence: p.sentence(), Cases: []jsonProven{}}
	for _, c := range p.counterexamples {
		out.Counterexamples = append(out.Counterexamples, c.file)
	}
	for _, one := range p.all {
		out.Cases = append(out.Cases, one.json())
	}
	return out
}

func (p *provenAll) writeJSON(w io.Writer) error {
	return terminal.WriteJSON(w, p.json())
}

func (one proven) json() jsonProven {
	out := jsonProven{Case: one.name, Holds: one.verdict.Holds(), Inbounds: []jsonInbound{}}
	if one.verdict.Err != nil {
		out.Error = one.verdict.Err.Error()
	}
	for _, w := range one.result.Warnings {
		out.Warnings = append(out.Warnings, w.String())
	}
	for _, in := range one.verdict.Inbounds {
		out.Inbounds = append(out.Inbounds, inboundJSON(in))
	}
	return out
}

func inboundJSON(in proof.InboundVerdict) jsonInbound {
	out := jsonInbound{
		Inbound: in.Inbound.String(), Protocol: in.Inbound.Protocol.String(), Requests: in.Requests, Sampled: in.Inbound.Cover.Sampled, Classes: []jsonClass{}, Rules: []jsonProvenRule{},
	}
	for _, c := range in.Classes {
		j := jsonClass{
			Class: c.Text, Proven: c.Proven, Decision: c.Decision.Effect.String(), By: c.Decision.Origin, Shadow: "none", Rule: c.Witness.Rule,
			From: c.Witness.From.Name, Method: c.Witness.Method, Path: c.Witness.Path, Requests: c.Requests, Problems: c.Witness.ProblemTexts(),
		}
		if c.Decision.Shadowed {
			j.Shadow = c.Decision.Shadow.Effect.String()
		}
		out.Classes = append(out.Classes, j)
	}
	for _, r := range in.Rules {
		out.Rules = append(out.Rules, jsonProvenRule{
			Rule: r.String(), Layer: r.Gate.String(), Shadow: r.Shadow, Route: r.Route, Met: r.Met, Decided: r.Decided, Dead: r.Dead(), HiddenBy: r.HiddenBy,
		})
	}
	for _, d := range in.Inbound.Cover.Dimensions {
		for _, u := range d.Unreachable {
			out.Unreachable = append(out.Unreachable, jsonUnreachable{u.Cell, u.Reason.Error()})
		}
	}
	return out
}
