package routediff

import (
	"fmt"
	"io"
	"strings"

	"github.com/meshproof/meshproof/internal/requestline"
	"github.com/meshproof/meshproof/internal/terminal"
	"github.com/meshproof/meshproof/policy"
)

// signs stand before a change.
var signs = map[Kind]string{Moved: ">", Longer: "+", Shorter: "-", Renamed: "="}

// Sentence says in one what changes.
func (d *Difference) Sentence() string {
	of, classes, outbounds, clusters := d.counts()
	changes := 0
	for _, n := range of {
		changes += n
	}
	cover := "; cover complete"
	if len(d.Sampled()) > 0 {
		cover = "; cover sampled"
	}
	text := fmt.Sprintf("nothing changes in %s of outbound requests", terminal.Plural(classes, "class", "classes"))
	if changes > 0 {
		text = fmt.Sprintf("%d of %s of outbound requests change: %d go elsewhere, %d may wait longer, %d less long, %d have another origin",
			changes, terminal.Plural(classes, "class", "classes"), of[Moved], of[Longer], of[Shorter], of[Renamed])
	}
	text += cover
	if clusters > 0 {
		text += "; the limits of " + terminal.Count(clusters, "backend") + " change, see above"
	}
	if n := len(d.Services); n > 0 {
		text += "; there are changes behind " + terminal.Count(n, "service") + ", see above"
	}
	if outbounds > 0 {
		text += "; the outbounds change, see above"
	}
	return text + d.verdict()
}

// title names an outbound of a workload.
func (s Sender) title(c Comparison) string {
	return fmt.Sprintf("%s → %s (%s)", s.Name(), c.New.Service, c.New.Protocol)
}

// Name names the workloads, with their case.
func (s Sender) Name() string {
	name := strings.Join(s.Names, ", ")
	if s.Case != "" {
		name = s.Case + ": " + name
	}
	return name
}

// WriteText prints the changes of each outbound.
func (d *Difference) WriteText(w io.Writer, p terminal.Paint) {
	for _, s := range d.Senders {
		for _, text := range s.Outbounds {
			fmt.Fprintf(w, "%s: outbound %s\n", s.Name(), terminal.Printable(text))
		}
		for _, c := range s.Comparisons {
			if len(c.Changes) == 0 {
				continue
			}
			fmt.Fprintf(w, "%s: %s\n", s.title(c), c.Cover)
			for _, change := range c.Changes {
				sign := signs[change.Kind()]
				if change.Kind() == Moved {
					sign = p.Red(sign)
				}
				fmt.Fprintf(w, "  %s %s: %s\n", sign, change.Kind(), terminal.Printable(change.Text))
				if line := change.request(); line != "" {
					fmt.Fprintf(w, "      request  %s\n", terminal.Printable(line))
				}
				writeFields(w, change.Fields)
				change.evidence.write(w, p)
			}
			fmt.Fprintln(w)
		}
		for _, c := range s.Clusters {
			fmt.Fprintf(w, "%s: backend %s\n", s.Name(), c.Cluster)
			writeFields(w, c.Fields)
			c.evidence.write(w, p)
			fmt.Fprintln(w)
		}
		for _, text := range s.Made {
			fmt.Fprintf(w, "made: %s\n", terminal.Printable(text))
		}
	}
	for _, c := range d.Services {
		fmt.Fprintf(w, "%s service %s\n", p.Red(signs[Moved]), c.Cluster)
		writeFields(w, c.Fields)
		c.evidence.write(w, p)
		fmt.Fprintln(w)
	}
	for _, u := range d.Unasked {
		fmt.Fprintf(w, "%s %s\n", p.Red("not asked:"), terminal.Printable(u.String()))
	}
	for _, i := range d.Warnings {
		fmt.Fprintf(w, "%s %s\n", p.Yellow("warning:"), terminal.Printable(i.String()))
	}
	for _, text := range d.errors() {
		fmt.Fprintf(w, "%s %s\n", p.Mark(false), p.Red(terminal.Printable(text)))
	}
	fmt.Fprintln(w, d.Sentence())
}

// request is the witness as a line; empty on tcp.
func (c Change) request() string {
	if c.Witness.Path == "" {
		return ""
	}
	return c.Witness.Method + " " + c.Witness.Path + requestline.HeaderClause(c.Witness.Host, c.Witness.Headers)
}

func writeFields(w io.Writer, fields []Field) {
	for _, f := range fields {
		fmt.Fprintf(w, "      %s\n", f.Name)
		for _, side := range []struct {
			name  string
			value Value
		}{{"old", f.Old}, {"new", f.New}} {
			fmt.Fprintf(w, "        %s      %s\n", side.name, terminal.Printable(side.value.String()))
			if side.value.Place != "" {
				fmt.Fprintf(w, "                 at %s\n", terminal.Printable(side.value.Place))
			}
		}
	}
}

// String is the value with its origin.
func (v Value) String() string {
	if v.By != "" {
		return v.Text + " by " + v.By
	}
	return v.Text
}

// Rows are the changes as rows of a table: the effect, the outbound, the requests, one of them,
// and what differs before and after.
func (d *Difference) Rows() (out [][]string) {
	for _, s := range d.Senders {
		for _, c := range s.Comparisons {
			for _, change := range c.Changes {
				old, recent := sides(change.Fields)
				out = append(out, []string{signs[change.Kind()] + " " + change.Kind().String(), s.title(c), change.Text, change.request(), old, recent})
			}
		}
		for _, c := range s.Clusters {
			old, recent := sides(c.Fields)
			kind := kindOf(c.Fields)
			out = append(out, []string{signs[kind] + " " + kind.String(), s.Name() + " → " + c.Cluster, "all to this backend", "", old, recent})
		}
	}
	for _, c := range d.Services {
		old, recent := sides(c.Fields)
		out = append(out, []string{signs[Moved] + " " + Moved.String(), c.Cluster, "all to this service", "", old, recent})
	}
	return out
}

func sides(fields []Field) (old, recent string) {
	var olds, recents []string
	for _, f := range fields {
		olds, recents = append(olds, f.Name+" "+f.Old.placed()), append(recents, f.Name+" "+f.New.placed())
	}
	return strings.Join(olds, "; "), strings.Join(recents, "; ")
}

func (v Value) placed() string {
	if v.Place == "" {
		return v.String()
	}
	return v.String() + " at " + v.Place
}

// Paragraphs are what a table has no row for.
func (d *Difference) Paragraphs() (out []string) {
	for _, s := range d.Senders {
		for _, text := range s.Outbounds {
			out = append(out, s.Name()+": outbound "+text)
		}
		for _, text := range s.Made {
			out = append(out, "made: "+text)
		}
	}
	for _, u := range d.Unasked {
		out = append(out, "not asked: "+u.String())
	}
	for _, i := range d.Warnings {
		out = append(out, "warning: "+i.String())
	}
	return append(append(out, d.paragraphs()...), d.Sentence())
}

// The JSON form of a difference.
type differenceJSON struct {
	Sentence  string        `json:"sentence"`
	Classes   int           `json:"classes"`
	Complete  bool          `json:"complete"`
	Moved     int           `json:"moved"`
	Longer    int           `json:"longer"`
	Shorter   int           `json:"shorter"`
	Renamed   int           `json:"renamed"`
	Outbounds []string      `json:"outbounds"`
	Changes   []changeJSON  `json:"changes"`
	Backends  []backendJSON `json:"backends"`
	Services  []backendJSON `json:"services,omitempty"`
	Made      []string      `json:"made,omitempty"`
	Unasked   []string      `json:"unasked,omitempty"`
	Warnings  []string      `json:"warnings,omitempty"`
	// Envoy is the version that showed the changes, and Errors say why it could not.
	Envoy  string   `json:"envoy,omitempty"`
	Errors []string `json:"errors,omitempty"`
}

type changeJSON struct {
	Sender  string          `json:"sender"`
	To      string          `json:"to"`
	Kind    string          `json:"kind"`
	Class   string          `json:"class"`
	Method  string          `json:"method,omitempty"`
	Path    string          `json:"path,omitempty"`
	Headers []policy.Header `json:"headers,omitempty"`
	Fields  []Field         `json:"fields"`
	evidenceJSON
}

// evidenceJSON is what an Envoy showed.
type evidenceJSON struct {
	Shown    []shownJSON `json:"shown,omitempty"`
	Unshown  []string    `json:"notWaitedFor,omitempty"`
	NotShown []string    `json:"notShown,omitempty"`
}

type backendJSON struct {
	Sender  string  `json:"sender,omitempty"`
	Backend string  `json:"backend"`
	Kind    string  `json:"kind"`
	Fields  []Field `json:"fields"`
	evidenceJSON
}

// MarshalJSON implements [json.Marshaler].
func (d *Difference) MarshalJSON() ([]byte, error) {
	of, classes, _, _ := d.counts()
	out := differenceJSON{
		Sentence: d.Sentence(), Classes: classes, Complete: len(d.Sampled()) == 0, Moved: of[Moved], Longer: of[Longer], Shorter: of[Shorter], Renamed: of[Renamed],
		Outbounds: []string{}, Changes: []changeJSON{}, Backends: []backendJSON{}, Envoy: d.Envoy, Errors: d.errors(),
	}
	for _, s := range d.Senders {
		for _, text := range s.Outbounds {
			out.Outbounds = append(out.Outbounds, s.Name()+": "+text)
		}
		for _, c := range s.Comparisons {
			for _, change := range c.Changes {
				r := change.Witness
				out.Changes = append(out.Changes, changeJSON{s.Name(), c.New.Service.String(), change.Kind().String(), change.Text, r.Method, r.Path, r.Headers, change.Fields, change.evidence.form()})
			}
		}
		for _, c := range s.Clusters {
			out.Backends = append(out.Backends, backendJSON{s.Name(), c.Cluster, kindOf(c.Fields).String(), c.Fields, c.evidence.form()})
		}
		out.Made = append(out.Made, s.Made...)
	}
	for _, c := range d.Services {
		out.Services = append(out.Services, backendJSON{"", c.Cluster, Moved.String(), c.Fields, c.evidence.form()})
	}
	for _, u := range d.Unasked {
		out.Unasked = append(out.Unasked, u.String())
	}
	for _, i := range d.Warnings {
		out.Warnings = append(out.Warnings, i.String())
	}
	return terminal.MarshalJSON(out)
}
