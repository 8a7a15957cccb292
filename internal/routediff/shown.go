package routediff

import (
	"fmt"
	"io"
	"time"

	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/terminal"
)

// shownJSON is what an Envoy did with one request before and after.
type shownJSON struct {
	Old      string   `json:"old"`
	New      string   `json:"new"`
	Problems []string `json:"problems,omitempty"`
}

// evidences are the changes that a confirmation asks for.
func (d *Difference) evidences() (out []*evidence) {
	for _, s := range d.Senders {
		for _, c := range s.Comparisons {
			for _, change := range c.Changes {
				out = append(out, change.evidence)
			}
		}
		for _, c := range s.Clusters {
			out = append(out, c.evidence)
		}
	}
	for _, c := range d.Services {
		out = append(out, c.evidence)
	}
	return out
}

// verdict says what the Envoy says, empty before it was asked.
func (d *Difference) verdict() string {
	if d.Envoy == "" {
		return ""
	}
	fault, failed, unasked, shown, unshown, beyond := false, false, 0, 0, 0, 0
	for _, r := range d.Results() {
		fault, failed = fault || r.Fault, failed || !r.Passed()
	}
	for _, e := range d.evidences() {
		if e == nil {
			unasked++
			continue
		}
		shown, unshown, beyond = shown+len(e.shown), unshown+len(e.unshown), beyond+len(e.notShown)
	}
	for _, s := range d.Senders {
		beyond += len(s.Outbounds)
	}
	text := "; shown on Envoy " + d.Envoy
	switch {
	case fault:
		return "; Envoy " + d.Envoy + " gave no answer, see above"
	case failed:
		return "; Envoy " + d.Envoy + " does otherwise, see above"
	case shown == 0:
		return "; no request shows it on an Envoy"
	}
	if unshown > 0 {
		text += fmt.Sprintf(", but for %s that no request waits for", terminal.Count(unshown, "limit"))
	}
	if beyond > 0 {
		text += fmt.Sprintf(", but for %s that no request shows", terminal.Count(beyond, "change"))
	}
	if unasked > 0 {
		text += fmt.Sprintf(", but for %s to which no request goes", terminal.Count(unasked, "service"))
	}
	return text
}

// errors say why a case could not be asked.
func (d *Difference) errors() (out []string) {
	for _, r := range d.Results() {
		if r.Err != nil {
			out = append(out, r.Case.Name+": "+r.Err.Error())
		}
	}
	return out
}

// write prints what was seen below a change.
func (e *evidence) write(w io.Writer, p terminal.Paint) {
	if e == nil {
		return
	}
	for _, s := range e.shown {
		fmt.Fprintf(w, "      %s shown  old %s\n               new %s\n", p.Mark(len(s.problems()) == 0), way(s.Old), way(s.New))
		for _, text := range s.problems() {
			fmt.Fprintf(w, "        %s\n", p.Red(terminal.Printable(text)))
		}
	}
	for _, text := range e.unshown {
		fmt.Fprintf(w, "      not waited for: %s\n", terminal.Printable(text))
	}
	for _, text := range e.notShown {
		fmt.Fprintf(w, "      not shown: %s\n", terminal.Printable(text))
	}
}

// problems say what went otherwise than the policies say.
func (s Shown) problems() (out []string) {
	for _, side := range []struct {
		name    string
		request result.RoutedRequest
	}{{"old", s.Old}, {"new", s.New}} {
		for _, problem := range side.request.Problems {
			out = append(out, side.name+": "+problem.String())
		}
	}
	return out
}

// way is what became of a request, the time that this took, and the backend that took it.
func way(r result.RoutedRequest) string {
	f := r.Finding
	text := f.Cause.String() + " after " + f.Duration.Round(time.Millisecond).String()
	if f.Backend != "" {
		text += " at " + f.Backend
	}
	return text + ": " + f.Answer.String()
}

// form is the JSON form.
func (e *evidence) form() (out evidenceJSON) {
	if e == nil {
		return out
	}
	for _, s := range e.shown {
		out.Shown = append(out.Shown, shownJSON{way(s.Old), way(s.New), s.problems()})
	}
	out.Unshown, out.NotShown = e.unshown, e.notShown
	return out
}

// paragraphs say what Envoy does otherwise, and what it does not show.
func (d *Difference) paragraphs() (out []string) {
	for _, e := range d.evidences() {
		form := e.form()
		for _, s := range form.Shown {
			for _, text := range s.Problems {
				out = append(out, "Envoy does otherwise, "+text)
			}
		}
		for _, text := range form.Unshown {
			out = append(out, "not waited for: "+text)
		}
		for _, text := range form.NotShown {
			out = append(out, "not shown: "+text)
		}
	}
	return append(out, d.errors()...)
}
