package advisory

import (
	"github.com/meshproof/meshproof/internal/behavior"
	"github.com/meshproof/meshproof/internal/terminal"
)

type reportJSON struct {
	Envoy      string        `json:"envoy"`
	Runtime    string        `json:"runtime"`
	Behavior   behavior.Set  `json:"behavior"`
	Sentence   string        `json:"sentence"`
	Advisories []findingJSON `json:"advisories"`
	Problems   []string      `json:"problems,omitempty"`
	Notes      []string      `json:"notes,omitempty"`
}

type findingJSON struct {
	ID       string       `json:"id"`
	Aliases  []string     `json:"aliases,omitempty"`
	Product  string       `json:"product"`
	Loses    string       `json:"loses"`
	Fixed    []string     `json:"fixed,omitempty"`
	Behavior string       `json:"behavior,omitempty"`
	State    State        `json:"state"`
	Cases    []string     `json:"cases"`
	Bypasses []bypassJSON `json:"bypasses,omitempty"`
}

type bypassJSON struct {
	Inbound string   `json:"inbound"`
	From    string   `json:"from"`
	Method  string   `json:"method,omitempty"`
	Path    string   `json:"path,omitempty"`
	Headers []string `json:"headers,omitempty"`
	Refuses string   `json:"refuses"`
	At      string   `json:"at,omitempty"`
}

// MarshalJSON implements [encoding/json.Marshaler].
func (r *Report) MarshalJSON() ([]byte, error) {
	out := reportJSON{Envoy: r.Envoy, Runtime: r.Runtime, Behavior: r.Behavior, Sentence: r.Sentence(), Advisories: []findingJSON{}, Problems: r.Problems, Notes: r.Notes}
	for _, f := range r.Findings {
		one := findingJSON{ID: f.ID, Aliases: f.Aliases, Product: f.Product, Loses: f.Loses, Fixed: f.Fixed, State: f.State}
		if b, ok := f.Behavior(); ok {
			one.Behavior = b.String()
		}
		for _, c := range f.Cases {
			one.Cases = append(one.Cases, c.Name)
		}
		for _, b := range f.Bypasses {
			q := b.Request
			one.Bypasses = append(one.Bypasses, bypassJSON{q.To, q.From.Name, q.Method, q.Path, headersOf(b), b.Refuses, b.Place})
		}
		out.Advisories = append(out.Advisories, one)
	}
	return terminal.MarshalJSON(out)
}

// headersOf are the header lines of the request, as readers can tell their bytes.
func headersOf(b Bypass) (lines []string) {
	for _, h := range b.Request.Headers {
		lines = append(lines, terminal.Printable(h.Name+": "+h.Value))
	}
	return lines
}
