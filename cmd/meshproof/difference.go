package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/meshproof/meshproof/harness/suite"
	"github.com/meshproof/meshproof/proof"
)

// difference is what diff prints.
type difference struct {
	// envoy is the version that confirmed the changes, empty where none was asked.
	envoy string
	all   []compared
}

// compared is one pair with what differs, and what Envoy says of it.
type compared struct {
	pair
	found         []proof.Comparison
	before, after *suite.Result
}

func (d *difference) add(p pair, found []proof.Comparison) {
	d.all = append(d.all, compared{pair: p, found: found})
}

func (c compared) changes() int {
	n := 0
	for _, found := range c.found {
		n += len(found.Changes)
	}
	return n
}

func (d *difference) changes() int {
	n := 0
	for _, one := range d.all {
		n += one.changes()
	}
	return n
}

// counts are the changes by kind.
func (d *difference) counts() map[proof.Kind]int {
	out := map[proof.Kind]int{}
	for _, one := range d.all {
		for _, found := range one.found {
			for _, change := range found.Changes {
				out[change.Kind()]++
			}
		}
	}
	return out
}

func (d *difference) exit(denyWidening bool) error {
	var s summary
	for _, one := range d.all {
		for _, r := range []*suite.Result{one.before, one.after} {
			if r != nil {
				s.add(*r)
			}
		}
	}
	if err := s.exit(); err != nil {
		return err
	}
	if denyWidening && d.counts()[proof.Widened] > 0 {
		return &exitError{code: exitDiffers}
	}
	return nil
}

// sentence is what it all comes to.
func (d *difference) sentence() string {
	classes, complete := 0, true
	for _, one := range d.all {
		for _, found := range one.found {
			classes += len(found.Cover.Classes)
			complete = complete && found.Cover.Complete()
		}
	}
	if d.changes() == 0 {
		return fmt.Sprintf("nothing changes in %s of requests%s", countClasses(classes), coverText(complete))
	}
	counts := d.counts()
	text := fmt.Sprintf("%d of %s of requests change: access widens in %d, narrows in %d, the shadow changes in %d, the deciding policy in %d%s",
		d.changes(), countClasses(classes), counts[proof.Widened], counts[proof.Narrowed], counts[proof.ShadowChanged], counts[proof.OriginChanged], coverText(complete))
	if d.envoy != "" {
		text += "; shown on Envoy " + d.envoy
	}
	return text
}

func countClasses(n int) string {
	if n == 1 {
		return "1 class"
	}
	return fmt.Sprintf("%d classes", n)
}

func coverText(complete bool) string {
	if complete {
		return "; cover complete"
	}
	return "; cover sampled"
}

// kindSigns stand before a change.
var kindSigns = map[proof.Kind]string{proof.Widened: "+", proof.Narrowed: "-", proof.ShadowChanged: "~", proof.OriginChanged: "="}

func (d *difference) writeText(w io.Writer, p paint) {
	for _, one := range d.all {
		asked := 0
		for _, found := range one.found {
			if len(found.Changes) == 0 {
				continue
			}
			fmt.Fprintf(w, "%s, %s (%s): %s\n", printable(one.subject()), found.Inbound, found.Inbound.Protocol, found.Cover)
			for _, change := range found.Changes {
				writeChange(w, p, change, one.shown(asked))
				asked++
			}
			fmt.Fprintln(w)
		}
	}
	fmt.Fprintln(w, d.sentence())
}

// shown are the two results of the n-th change, nil where no Envoy was asked.
func (c compared) shown(n int) []suite.Request {
	if c.before == nil || n >= len(c.before.Requests) || n >= len(c.after.Requests) {
		return nil
	}
	return []suite.Request{c.before.Requests[n], c.after.Requests[n]}
}

func writeChange(w io.Writer, p paint, c proof.Change, shown []suite.Request) {
	sign := kindSigns[c.Kind()]
	if c.Kind() == proof.Widened {
		sign = p.red(sign)
	}
	fmt.Fprintf(w, "  %s %s: %s\n", sign, c.Kind(), printable(c.Text))
	fmt.Fprintf(w, "      request  %s\n", printable(witnessText(c)))
	for i, side := range []struct {
		name    string
		opinion proof.Opinion
	}{{"old", c.Old}, {"new", c.New}} {
		mark := ""
		if shown != nil {
			mark = p.mark(len(shown[i].Problems) == 0) + " "
		}
		fmt.Fprintf(w, "      %s      %s%s\n", side.name, mark, printable(orElse(side.opinion.Reason, side.opinion.Decision.Verdict.String()+": no policy applies")))
		if c.Kind() == proof.ShadowChanged {
			fmt.Fprintf(w, "               shadow %s\n", printable(orElse(side.opinion.ShadowReason, "none")))
		}
		if shown != nil {
			for _, problem := range shown[i].Problems {
				fmt.Fprintf(w, "               %s\n", p.red(problem))
			}
		}
	}
}

func witnessText(c proof.Change) string {
	words := []string{c.Request.To}
	if c.Witness.Path != "" {
		words = append(words, c.Witness.Method, c.Witness.Path)
	}
	return strings.Join(append(words, "as", c.Request.From.Name), " ")
}

// The JSON form of a diff.
type jsonDiff struct {
	Sentence string       `json:"sentence"`
	Widened  int          `json:"widened"`
	Narrowed int          `json:"narrowed"`
	Shadow   int          `json:"shadow"`
	Origin   int          `json:"origin"`
	Envoy    string       `json:"envoy,omitempty"`
	Changes  []jsonChange `json:"changes"`
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
	out := jsonDiff{
		Sentence: d.sentence(), Widened: counts[proof.Widened], Narrowed: counts[proof.Narrowed],
		Shadow: counts[proof.ShadowChanged], Origin: counts[proof.OriginChanged], Envoy: d.envoy, Changes: []jsonChange{},
	}
	for _, one := range d.all {
		asked := 0
		for _, found := range one.found {
			for _, c := range found.Changes {
				j := jsonChange{
					Case: one.subject(), Inbound: found.Inbound.String(), Kind: c.Kind().String(), Class: c.Text,
					From: c.Request.From.Name, Method: c.Witness.Method, Path: c.Witness.Path, Old: opinionJSON(c.Old), New: opinionJSON(c.New),
				}
				for _, shown := range one.shown(asked) {
					j.Problems = append(j.Problems, shown.Problems...)
				}
				out.Changes = append(out.Changes, j)
				asked++
			}
		}
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(out)
}
