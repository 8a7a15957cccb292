package report

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// pageEvidence is what was seen of a request, on the runs that saw the same.
type pageEvidence struct {
	ID, On, Asked, Upstream, Peer string
	Request
}

// fill works out all that the page shows of a case, once its runs are known.
func (c *pageCase) fill(runs []Run, labels []string, ids pageIDs) {
	c.Uniform = true
	for i, r := range c.runs {
		result := newPageResult(labels[i], r)
		c.Results = append(c.Results, result)
		c.Uniform = c.Uniform && result.Status == c.Results[0].Status
		c.Odd = c.Odd || r != nil && r.Failed()
	}
	c.group()
	c.Odd = c.Odd || c.differs()
	c.Again = pageAgain(runs, c.runs)
	c.Notes = slices.Concat(
		pageNotes("Skipped", runs, labels, c.runs, func(r *Case) []string { return pageText(r.Skipped, !r.NotApplicable) }),
		pageNotes("Not applicable", runs, labels, c.runs, func(r *Case) []string { return pageText(r.Skipped, r.NotApplicable) }),
		pageNotes("Failed", runs, labels, c.runs, func(r *Case) []string { return pageText(r.Error, true) }),
		pageNotes("Warning", runs, labels, c.runs, func(r *Case) []string { return r.Warnings }),
		pageNotes("Note", runs, labels, c.runs, func(r *Case) []string { return r.Notes }),
	)
	c.Sources = pageNotes("Case", runs, labels, c.runs, func(r *Case) []string { return pageText(r.Source, true) })
	c.tables(labels, ids)
}

func newPageResult(label string, r *Case) pageResult {
	result := pageResult{Run: label, Status: pageStatusOf(r)}
	if r == nil {
		return result
	}
	result.Time, result.Slow = seconds(took(r.Milliseconds)), took(r.Milliseconds) > SlowCase
	for _, q := range r.Requests {
		result.Retries += q.Evidence.Retries
	}
	return result
}

// differs tells whether runs came to different ends, in the whole or in a request.
func (c *pageCase) differs() bool {
	return !c.Uniform || slices.ContainsFunc(c.Groups, func(g *pageGroup) bool {
		for a, q := range g.seen {
			if c.cellDiffers(a, q) {
				return true
			}
		}
		return false
	})
}

// group puts those runs together that have the same status on the same evidence.
func (c *pageCase) group() {
	at := map[string]*pageGroup{}
	for i, r := range c.runs {
		if r == nil {
			continue
		}
		key := fmt.Sprintf("%s %s %q", c.Results[i].Status, r.EvidenceSHA256, r.Error)
		g := at[key]
		if g == nil {
			g = &pageGroup{SHA256: r.EvidenceSHA256, Counters: pageCounters(r.Counters), seen: map[asking]Request{}}
			for j, a := range askings(*r) {
				g.seen[a] = r.Requests[j]
			}
			at[key] = g
			c.Groups = append(c.Groups, g)
		}
		g.runs = append(g.runs, i)
	}
}

// tables draws the truth table of each group, and collects the evidence of their cells.
func (c *pageCase) tables(labels []string, ids pageIDs) {
	callers, inbounds := pageLayout(c.runs)
	web := pageWeb(c.runs)
	short, common := pageElide(callers)
	count := 0
	for _, in := range inbounds {
		count += len(in.Requests)
	}
	entries := map[string]*pageEvidence{}
	on := map[string][]int{}
	for _, g := range c.Groups {
		g.On, g.Seen = pageOn(g.runs, c.runs, labels), pageSame(g.runs, labels)
		if len(g.seen) == 0 {
			continue
		}
		t := &pageTable{Callers: short, Common: common, Turned: count > max(pageWidest, len(callers)), Upright: count > pageWidest && len(callers) > pageWidestTurned}
		for _, in := range inbounds {
			drawn := pageInbound{Name: in.Name}
			for _, asked := range in.Requests {
				drawn.Requests = append(drawn.Requests, pageAsked{Text: asked.Text, Cells: make([][]pageCell, len(callers))})
			}
			t.Inbounds = append(t.Inbounds, drawn)
		}
		g.Table = t
		shown := c.runs[g.runs[0]]
		for i, a := range askings(*shown) {
			q := shown.Requests[i]
			text := pageAsk(q, web[q.To])
			seen := pageSeen(q)
			e := entries[seen]
			if e == nil {
				e = &pageEvidence{ID: ids.take(c.evidenceID(q, text)), Asked: text, Upstream: pageArrived(q.Evidence.Upstream), Peer: pagePeer(q), Request: q}
				entries[seen] = e
				c.Evidence = append(c.Evidence, e)
			}
			on[seen] = append(on[seen], g.runs...)
			in := &t.Inbounds[slices.IndexFunc(t.Inbounds, func(in pageInbound) bool { return in.Name == q.To })]
			asked := &in.Requests[slices.IndexFunc(in.Requests, func(a pageAsked) bool { return a.Text == text })]
			caller := slices.Index(callers, q.From)
			asked.Cells[caller] = append(asked.Cells[caller], newPageCell(q, e.ID, c.Results[g.runs[0]].Status.Gated(), c.cellDiffers(a, q)))
		}
	}
	for seen, e := range entries {
		slices.Sort(on[seen])
		e.On = pageOn(slices.Compact(on[seen]), c.runs, labels)
	}
}

// evidenceID names what was seen of a request by its case and by what was asked, so that
// a link to it holds when cases or requests are added. It is short: a page has thousands.
func (c *pageCase) evidenceID(q Request, asked string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q", c.ID, q.From, q.To, asked))
	return "e" + hex.EncodeToString(sum[:4])
}

// cellDiffers tells whether runs that asked a request decided it in more than one way.
func (c *pageCase) cellDiffers(a asking, q Request) bool {
	return slices.ContainsFunc(c.Groups, func(g *pageGroup) bool {
		other, asked := g.seen[a]
		return asked && other.decision() != q.decision()
	})
}

// pageSeen is all of a request that its hash covers and its problems: what is the same
// there is shown once.
func pageSeen(q Request) string {
	q.Evidence.Retries, q.Evidence.Milliseconds = 0, 0
	if a := q.Evidence.Upstream; a != nil {
		arrived := *a
		arrived.XFCC = withoutKey(a.XFCC)
		q.Evidence.Upstream = &arrived
	}
	text, err := json.Marshal(q)
	if err != nil {
		panic(fmt.Sprintf("report: %v", err)) // strings, numbers and lists of them always have a JSON form
	}
	return string(text)
}

// pageArrived is what reached the upstream, without the hash of a key that lived for one run.
func pageArrived(a *Arrived) string {
	if a == nil || a.XFCC == "" {
		return a.String()
	}
	return a.String() + ", XFCC " + a.xfcc()
}

// pagePeer is the identity that the log has of the caller.
func pagePeer(q Request) string {
	text := strings.Join(q.Evidence.Peer, ", ")
	if text != "" && text == q.From {
		return "as the caller says"
	}
	return text
}

// pageCounters is the counters of each inbound as a line.
func pageCounters(counters map[string]Counters) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(counters)) {
		c := counters[name]
		text := fmt.Sprintf("%s: %d allowed, %d denied", name, c.Allowed, c.Denied)
		if c.ShadowAllowed > 0 || c.ShadowDenied > 0 {
			text += fmt.Sprintf("; shadow %d allowed, %d denied", c.ShadowAllowed, c.ShadowDenied)
		}
		out = append(out, text)
	}
	return out
}
