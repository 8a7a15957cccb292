package page

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/report"
)

// evidenceView is the evidence of a request, in the runs that have the same.
type evidenceView struct {
	ID, RunNames, Asked, Upstream, Peer string
	report.Request
}

// fill sets what the page shows of a case. The runs of the case must be known.
func (c *caseView) fill(runs []report.Run, labels []string, ids idSet) {
	c.Uniform = true
	for i, r := range c.runs {
		result := newCaseResult(labels[i], r)
		c.Results = append(c.Results, result)
		c.Uniform = c.Uniform && result.Status == c.Results[0].Status
		c.Odd = c.Odd || r != nil && r.Failed()
	}
	c.group()
	c.Odd = c.Odd || c.differs()
	c.Again = againCommands(runs, c.runs)
	c.Notes = slices.Concat(
		collectNotes("Skipped", runs, labels, c.runs, func(r *report.Case) []string { return textList(r.Skipped, !r.NotApplicable) }),
		collectNotes("Not applicable", runs, labels, c.runs, func(r *report.Case) []string { return textList(r.Skipped, r.NotApplicable) }),
		collectNotes("Failed", runs, labels, c.runs, func(r *report.Case) []string { return textList(r.Error, true) }),
		collectNotes("Warning", runs, labels, c.runs, func(r *report.Case) []string { return r.Warnings }),
		collectNotes("Note", runs, labels, c.runs, func(r *report.Case) []string { return r.Notes }),
	)
	c.Sources = collectNotes("Case", runs, labels, c.runs, func(r *report.Case) []string { return textList(r.Source, true) })
	c.tables(labels, ids)
	c.routedRows(labels, ids)
}

func newCaseResult(label string, r *report.Case) caseResult {
	result := caseResult{Run: label, Status: statusOf(r)}
	if r == nil {
		return result
	}
	result.Time, result.Slow = report.Seconds(report.Took(r.Milliseconds)), report.Took(r.Milliseconds) > report.SlowCase
	for _, q := range r.Requests {
		result.Retries += q.Evidence.Retries
	}
	return result
}

// differs reports whether runs differ in the status of the case, or in the decision of a request.
func (c *caseView) differs() bool {
	return !c.Uniform || slices.ContainsFunc(c.Groups, func(g *group) bool {
		for a, decision := range g.seen {
			if c.cellDiffers(a, decision) {
				return true
			}
		}
		return false
	})
}

// group groups the runs that have the same status and the same evidence.
func (c *caseView) group() {
	at := map[string]*group{}
	for i, r := range c.runs {
		if r == nil {
			continue
		}
		key := fmt.Sprintf("%s %s %q", c.Results[i].Status, r.EvidenceSHA256, r.Error)
		g := at[key]
		if g == nil {
			g = &group{SHA256: r.EvidenceSHA256, Counters: counterLines(r.Counters), seen: map[report.Asking]string{}}
			decided := r.Decisions()
			for j, a := range report.Askings(*r) {
				g.seen[a] = decided[j]
			}
			at[key] = g
			c.Groups = append(c.Groups, g)
		}
		g.runs = append(g.runs, i)
	}
}

// tables makes the truth table of each group, and collects the evidence of the cells.
func (c *caseView) tables(labels []string, ids idSet) {
	callers, inbounds := layOut(c.runs)
	protocols := findProtocols(c.runs)
	short, common := elideTrustDomain(callers)
	count := 0
	for _, in := range inbounds {
		count += len(in.Requests)
	}
	entries := map[string]*evidenceView{}
	on := map[string][]int{}
	for _, g := range c.Groups {
		g.RunNames, g.Seen = runNames(g.runs, c.runs, labels), sameText(g.runs, labels)
		if len(c.runs[g.runs[0]].Requests) == 0 {
			continue
		}
		t := &table{Callers: short, Common: common, Turned: count > max(widest, len(callers)), Upright: count > widest && len(callers) > widestTurned}
		for _, in := range inbounds {
			drawn := inboundTable{Name: in.Name}
			for _, asked := range in.Requests {
				drawn.Requests = append(drawn.Requests, requestCells{Text: asked.Text, Cells: make([][]cell, len(callers))})
			}
			t.Inbounds = append(t.Inbounds, drawn)
		}
		g.Table = t
		shown := c.runs[g.runs[0]]
		for i, a := range report.Askings(*shown)[:len(shown.Requests)] {
			q := shown.Requests[i]
			text := askText(q, protocols[q.To])
			seen := seenKey(q)
			e := entries[seen]
			if e == nil {
				e = &evidenceView{ID: ids.take(c.evidenceID(q, text)), Asked: text, Upstream: arrivedText(q.Lasting().Evidence.Upstream), Peer: peerText(q), Request: q}
				entries[seen] = e
				c.Evidence = append(c.Evidence, e)
			}
			on[seen] = append(on[seen], g.runs...)
			in := &t.Inbounds[slices.IndexFunc(t.Inbounds, func(in inboundTable) bool { return in.Name == q.To })]
			asked := &in.Requests[slices.IndexFunc(in.Requests, func(a requestCells) bool { return a.Text == text })]
			caller := slices.Index(callers, q.From)
			asked.Cells[caller] = append(asked.Cells[caller], newCell(q, e.ID, c.Results[g.runs[0]].Status.Gated(), c.cellDiffers(a, q.Decision())))
		}
	}
	for seen, e := range entries {
		slices.Sort(on[seen])
		e.RunNames = runNames(slices.Compact(on[seen]), c.runs, labels)
	}
}

// evidenceID is made of the case and the request, so that a link stays valid when cases or
// requests are added. It is short, because a page has thousands of IDs.
func (c *caseView) evidenceID(q report.Request, asked string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q", c.ID, q.From, q.To, asked))
	return "e" + hex.EncodeToString(sum[:4])
}

// cellDiffers reports whether runs decided a request in different ways.
func (c *caseView) cellDiffers(a report.Asking, decision string) bool {
	return slices.ContainsFunc(c.Groups, func(g *group) bool {
		other, asked := g.seen[a]
		return asked && other != decision
	})
}

// seenKey is all that the page shows as the evidence of a request. Requests with the same key share one entry.
func seenKey(q report.Request) string {
	text, err := json.Marshal(q.Lasting())
	if err != nil {
		panic(fmt.Sprintf("page: %v", err)) // strings, numbers and lists of them always have a JSON form
	}
	return string(text)
}

// arrivedText is what reached the upstream.
func arrivedText(a *report.Arrived) string {
	if a == nil || a.XFCC == "" {
		return a.String()
	}
	return a.String() + ", XFCC " + a.XFCC
}

// peerText is the identity of the caller in the access log.
func peerText(q report.Request) string {
	text := strings.Join(q.Evidence.Peer, ", ")
	if text != "" && text == q.From {
		return "as the caller says"
	}
	return text
}

// counterLines has a line with the counters of each inbound.
func counterLines(counters map[string]report.Counters) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(counters)) {
		c := counters[name]
		text := fmt.Sprintf("%s: %d allowed, %d denied", name, c.Allowed, c.Denied)
		if c.ShadowAllowed > 0 || c.ShadowDenied > 0 {
			text += fmt.Sprintf("; shadow %d allowed, %d denied", c.ShadowAllowed, c.ShadowDenied)
		}
		out = append(out, text)
		for _, rule := range slices.Sorted(maps.Keys(c.Rules)) {
			r := c.Rules[rule]
			out = append(out, fmt.Sprintf("%s: rule %s: %d allowed, %d denied; shadow %d allowed, %d denied", name, rule, r.Allowed, r.Denied, r.ShadowAllowed, r.ShadowDenied))
		}
	}
	return out
}
