package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/report"
)

// routedRow is a request through a sidecar, in the runs that have the same evidence.
type routedRow struct {
	report.RoutedRequest
	// Asked is what the request asks for, and Inbound what takes it.
	ID, Asked, Inbound string
	// Differs: another run has another result.
	Differs bool
	// Took is the measured time, and Wanted the window; "" for none.
	Took, Wanted string
	Picture      picture
}

// picture is a picture of the time of a request: the window in which a bound must end it, and a tick
// for each run.
type picture struct {
	Width  int
	Title  string
	Window *span
	Ticks  []tick
}

// span is the window. Edge is the place of the sentinel; "" where there is none, and the window is open.
type span struct{ X, Width, Edge string }

// tick is the measured time. Missed tells that it lies outside the window.
type tick struct {
	X      string
	Missed bool
}

// pictureWidth is the width of a picture, in pixels.
const pictureWidth = 180

// HasRouted reports whether a case has requests through sidecars.
func (v *view) HasRouted() bool {
	return slices.ContainsFunc(v.Profiles, func(p profileView) bool {
		return slices.ContainsFunc(p.Stories, func(s *storyView) bool {
			return slices.ContainsFunc(s.Cases, func(c *caseView) bool {
				return slices.ContainsFunc(c.Groups, func(g *group) bool { return len(g.Routed) > 0 })
			})
		})
	})
}

// routedRows makes the rows of each group. The pictures of a case have one scale.
func (c *caseView) routedRows(labels []string, ids idSet) {
	longest := c.longest()
	for _, g := range c.Groups {
		shown := c.runs[g.runs[0]]
		askings := report.Askings(*shown)[len(shown.Requests):]
		for i, r := range shown.RoutedRequests {
			asked := askedOfSidecar(r)
			row := routedRow{RoutedRequest: r, Asked: asked, Inbound: r.Backend, Differs: c.cellDiffers(askings[i], r.Decision())}
			if r.Backend != "" && len(r.Backends) > 1 {
				row.Inbound = "one of " + strings.Join(r.Backends, ", ")
			}
			row.ID = ids.take(c.evidenceID(report.Request{From: r.From, To: r.To}, asked+r.Answer))
			row.Picture = picture{Width: pictureWidth, Window: newSpan(r.Window, longest)}
			var all []float64
			var texts []string
			for _, run := range g.runs {
				one := c.runs[run].RoutedRequests[i]
				row.Picture.Ticks = append(row.Picture.Ticks, tick{place(one.Milliseconds, longest), isOutside(one)})
				all, texts = append(all, one.Milliseconds), append(texts, report.Milliseconds(one.Milliseconds)+" on "+labels[run])
			}
			row.Took = tookText(all)
			row.Picture.Title = "It ended after " + strings.Join(texts, ", ")
			if r.Window != nil {
				row.Wanted = r.Window.String()
				row.Picture.Title += "; wanted: " + row.Wanted
			}
			g.Routed = append(g.Routed, row)
		}
	}
}

// tookText has the shortest and the longest of the measured times.
func tookText(all []float64) string {
	least, most := report.Milliseconds(slices.Min(all)), report.Milliseconds(slices.Max(all))
	switch {
	case len(all) == 1:
		return least
	case least == most:
		return fmt.Sprintf("%s in %d runs", least, len(all))
	}
	return fmt.Sprintf("%s to %s in %d runs", least, most, len(all))
}

// longest is the longest time in the pictures of a case, with some room behind it.
func (c *caseView) longest() float64 {
	longest := 1.0
	for _, r := range presentCases(c.runs) {
		for _, q := range r.RoutedRequests {
			longest = max(longest, q.Milliseconds)
			if q.Window != nil {
				longest = max(longest, q.Window.From*1.1, q.Window.To)
			}
		}
	}
	return longest * 1.05
}

// newSpan places a window. One without an end reaches to the end of the picture.
func newSpan(w *report.Window, longest float64) *span {
	if w == nil {
		return nil
	}
	out := &span{X: place(w.From, longest), Width: place(cmp.Or(w.To, longest)-w.From, longest)}
	if w.To > 0 {
		out.Edge = place(w.To, longest)
	}
	return out
}

func isOutside(r report.RoutedRequest) bool {
	return r.Window != nil && (r.Milliseconds < r.Window.From || r.Window.To > 0 && r.Milliseconds > r.Window.To)
}

// place is a time as a place in a picture.
func place(ms, longest float64) string { return fmt.Sprintf("%.1f", pictureWidth*ms/longest) }

// askedOfSidecar is what a request asks for.
func askedOfSidecar(r report.RoutedRequest) string {
	return askText(report.Request{Method: r.Method, Path: r.Path, GRPC: r.GRPC, Header: r.Header}, r.Protocol)
}

// differentRouted finds the requests through sidecars that runs decided in different ways.
func (c *caseView) differentRouted() []differentRequest {
	var order []report.Asking
	rows := map[report.Asking]*differentRequest{}
	differs := map[report.Asking]bool{}
	for _, g := range c.Groups {
		shown := c.runs[g.runs[0]]
		askings := report.Askings(*shown)[len(shown.Requests):]
		for i, r := range g.Routed {
			a := askings[i]
			if rows[a] == nil {
				rows[a] = &differentRequest{Inbound: r.To, Request: r.Asked, Caller: r.From, Cells: make([][]cell, len(c.runs))}
				order = append(order, a)
			}
			differs[a] = differs[a] || r.Differs
			for _, run := range g.runs {
				rows[a].Cells[run] = []cell{{Class: "status", Sign: report.Visible(r.CauseText()), Label: report.Visible(r.Decision()), Evidence: r.ID, Wrong: !r.Passed}}
			}
		}
	}
	var out []differentRequest
	for _, a := range order {
		if differs[a] {
			out = append(out, *rows[a])
		}
	}
	return out
}
