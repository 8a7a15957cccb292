package diff

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/manifestdiff"
	"github.com/meshproof/meshproof/internal/report/markdown"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/terminal"
	"github.com/meshproof/meshproof/internal/unsendable"
	"github.com/meshproof/meshproof/policy/dialect"
)

// Sides are two sets of policies side by side, such as those before and after a migration to
// another dialect: every class of requests, decided alike or not. A stands for OLD, and B for NEW.
//
// Two decisions are alike where both let the request pass or both refuse it, and their shadows do
// so too. One may refuse it with a status and the other close the connection.
type Sides struct {
	*Difference
	// SVIDs leaves callers with several names out: an X.509-SVID has one.
	SVIDs bool
}

// sampled says of which requests there are examples only.
func (s Sides) sampled() []string { return s.withoutNames(s.Difference.sampled()) }

// withoutNames takes the reasons of callers with several names out, where these are left out.
func (s Sides) withoutNames(reasons []string) []string {
	return slices.DeleteFunc(reasons, func(reason string) bool { return s.SVIDs && slices.Contains(s.sampledNames(), reason) })
}

// sampledNames are the reasons for which callers with several names are sampled.
func (s Sides) sampledNames() (out []string) {
	for _, one := range s.Cases {
		for _, found := range one.Comparisons {
			if reason := found.Cover.SampledNames; reason != "" && !slices.Contains(out, reason) {
				out = append(out, reason)
			}
		}
	}
	return out
}

// DiffBeside is [Diff] for [Sides]: the classes that both sides decide alike are among the changes.
func DiffBeside(a, b Side, to string) (*Difference, error) { return compareSides(a, b, to, true) }

// idle returns the policies that select no inbound of the cases, each once.
func idle(all []lab.Case) (out []lab.Unasked) {
	selected := map[string]bool{}
	for _, c := range all {
		for _, t := range targetsOf(c) {
			selected[t.Place] = selected[t.Place] || slices.ContainsFunc(c.Inbounds, func(in cases.Inbound) bool { return t.Selects(in.Inbound) })
		}
	}
	for _, c := range all {
		for _, t := range targetsOf(c) {
			if !selected[t.Place] {
				selected[t.Place] = true
				out = append(out, lab.Unasked{Policy: t.Policy, Place: t.Place, Reason: "it selects no workload of the cases", Inert: t.Inert})
			}
		}
	}
	return out
}

// targetsOf returns what the policies of a case select. Policies that are refused are the
// business of the comparison.
func targetsOf(c lab.Case) []capability.Target {
	set, err := dialect.Parse(c.Policies, c.Options)
	if targeter, ok := set.(capability.Targeter); ok && err == nil {
		return targeter.Targets()
	}
	return nil
}

// OpenSides reads the policies of both sides, as [OpenSide] does.
func OpenSides(choice lab.Choice, old, recent, workloads string) (was, is *lab.Files, err error) {
	if was, err = OpenSide(choice, old, workloads); err != nil {
		return nil, nil, err
	}
	is, err = OpenSide(choice, recent, workloads)
	return was, is, err
}

// OpenSide reads the policies of one side as [Open] does. With a file of workloads, a case of it
// stands for the inbounds and the callers, and its own policies and requests for nothing.
func OpenSide(choice lab.Choice, path, workloads string) (*lab.Files, error) {
	if workloads == "" {
		return Open(choice, path)
	}
	choice.WorkloadsOnly = true
	files, err := Open(choice, workloads)
	switch {
	case err != nil:
		return nil, err
	case len(files.Cases) == 0:
		return nil, fmt.Errorf("--workloads: %s: there is no case with an inbound: describe the workloads as a case does", workloads)
	case len(files.Policies) > 0:
		return nil, fmt.Errorf("--workloads: %s: there are policies outside of its cases: name a case file alone", workloads)
	}
	files.Name = path
	return files, files.ReplacePolicies(path)
}

// decidesAlike reports whether both sides decide a class alike.
func (c Change) decidesAlike() bool { return c.Kind() == OriginChanged }

// effects are the words for what differs.
var effects = map[Kind]string{Widened: "only B allows", Narrowed: "only A allows", ShadowChanged: "the shadow differs", OriginChanged: "alike"}

// Failures says what is not alike, or not known to be.
func (s Sides) Failures() []string {
	var out []string
	add := func(n int, text string) {
		if n > 0 {
			out = append(out, text+" "+terminal.Plural(n, "class", "classes")+" of requests")
		}
	}
	counts := s.counts()
	add(counts[Narrowed], "only A allows")
	add(counts[Widened], "only B allows")
	add(counts[ShadowChanged], "the shadow differs in")
	for _, c := range s.Cases {
		for _, in := range c.Inbounds {
			out = append(out, "inbound "+in.Text)
		}
		for _, found := range c.Comparisons {
			for _, reason := range found.Unsendable {
				if reason == unsendable.NotSearched(found.Cover.SampledNames) { // the sampled cover says it
					continue
				}
				out = append(out, "they differ at "+found.Inbound.String()+" in requests that the lab cannot send: "+reason)
			}
		}
	}
	for _, name := range slices.Concat(s.OnlyOld, s.OnlyNew) {
		out = append(out, "only one side has "+name)
	}
	if len(s.Unread) > 0 {
		out = append(out, "meshproof does not read "+s.unread()+": hold both sides against each other by hand")
	}
	out = append(out, s.Opens...)
	for _, u := range s.Unasked {
		if !u.Inert {
			out = append(out, "not asked: "+u.String())
		}
	}
	if reasons := s.sampled(); len(reasons) > 0 {
		out = append(out, "the cover is sampled: "+strings.Join(reasons, "; "))
	}
	if s.Truncated {
		out = append(out, "sampled: not each set of policies that may select one workload was asked, there are too many")
	}
	if s.classes() == 0 {
		out = append(out, "no request was asked")
	}
	if n := len(s.Warnings); s.Strict && n > 0 {
		out = append(out, terminal.Count(n, "warning"))
	}
	return out
}

// Verdict is one line: whether A and B decide alike, and why not.
func (s Sides) Verdict() string {
	if failures := s.Failures(); len(failures) > 0 {
		return "A and B are not shown to decide alike: " + strings.Join(failures, "; ")
	}
	return "A and B decide alike" + s.unproven()
}

// Sentence counts the classes, and says what Envoy says about them.
func (s Sides) Sentence() string {
	counts, cover := s.counts(), "complete"
	if len(s.sampled()) > 0 {
		cover = "sampled"
	}
	text := fmt.Sprintf("%s of requests: %d decided alike, only A allows %d, only B allows %d, the shadow differs in %d; cover %s",
		terminal.Plural(s.Changes(), "class", "classes"), counts[OriginChanged], counts[Narrowed], counts[Widened], counts[ShadowChanged], cover)
	if n := len(s.madeInbounds()); n > 0 {
		text += "; " + terminal.Count(n, "inbound") + " made"
	}
	if n := len(s.callers.Peers); n > 0 {
		text += "; " + terminal.Count(n, "caller") + " made"
	}
	return text + s.evidence()
}

// row is a class of requests to an inbound, with what both sides say of it.
type row struct {
	subject Case
	found   Comparison
	change  Change
	shown   []result.Request
}

// rows returns all classes.
func (s Sides) rows() (out []row) {
	for _, one := range s.Cases {
		asked := 0
		for _, found := range one.Comparisons {
			for _, change := range found.Changes {
				out = append(out, row{one, found, change, one.shown(asked)})
				asked++
			}
		}
	}
	return out
}

// problems says what Envoy decides otherwise.
func (r row) problems() (out []string) {
	for _, q := range r.shown {
		out = append(out, q.ProblemTexts()...)
	}
	return out
}

// WriteText prints each class of each inbound, what is not alike with its rules, and a sentence.
func (s Sides) WriteText(w io.Writer, p terminal.Paint) {
	last := ""
	for _, r := range s.rows() {
		cover := *r.found.Cover
		// What is left out is not sampled: a note of its own says it.
		cover.Sampled = s.withoutNames(slices.Clone(cover.Sampled))
		if title := fmt.Sprintf("%s, %s (%s): %s", terminal.Printable(r.subject.New.Name), r.found.Inbound, r.found.Inbound.Protocol, &cover); title != last {
			fmt.Fprintln(w, title)
			last = title
		}
		sign := "="
		if !r.change.decidesAlike() {
			sign = p.Red("≠")
		}
		fmt.Fprintf(w, "  %s %s: %s\n", sign, effects[r.change.Kind()], terminal.Printable(r.change.Text))
		if r.change.decidesAlike() && len(r.problems()) == 0 {
			continue
		}
		fmt.Fprintf(w, "      request  %s\n", terminal.Printable(witnessText(r.change)))
		for i, o := range []Opinion{r.change.Old, r.change.New} {
			fmt.Fprintf(w, "      %s        %s\n", [...]string{"A", "B"}[i], terminal.Printable(o.text()))
			writePlace(w, o.Place)
			if shadowChanges(r.change) && !r.change.decidesAlike() {
				fmt.Fprintf(w, "               shadow %s\n", terminal.Printable(o.shadowText()))
			}
		}
		for _, problem := range r.problems() {
			fmt.Fprintf(w, "               %s\n", p.Red(problem))
		}
	}
	for _, text := range s.remarks() {
		fmt.Fprintln(w, terminal.Printable(text))
	}
	fmt.Fprintln(w, s.Sentence())
	fmt.Fprintf(w, "%s %s\n", p.Mark(len(s.Failures()) == 0 && s.Confirmed().Failed == 0), terminal.Printable(s.Verdict()))
}

// remarks are what was made, warned of, and not shown.
func (s Sides) remarks() (out []string) {
	for _, one := range s.Cases {
		for _, err := range one.errors() {
			out = append(out, "error: "+err)
		}
		for _, note := range one.notes() {
			out = append(out, "note: "+note)
		}
	}
	if s.SVIDs {
		for _, reason := range s.sampledNames() {
			out = append(out, "note: a certificate with several URI SANs is no X.509-SVID, and is left out: "+reason)
		}
	}
	if s.Assumed != "" {
		out = append(out, "assumed: "+s.Assumed)
	}
	for _, text := range s.made() {
		out = append(out, "made: "+text)
	}
	for _, text := range texts(s.Unread) {
		out = append(out, "not read: "+text)
	}
	out = append(out, s.besideTexts()...)
	for _, text := range texts(s.Warnings) {
		out = append(out, "warning: "+text)
	}
	return out
}

// shadowText is the rule that decides in the shadow.
func (o Opinion) shadowText() string {
	if !o.Decision.Shadowed {
		return "none"
	}
	return o.Decision.Shadow.String() + ": " + o.ShadowReason
}

// Markdown returns what is not alike, for a comment on a pull request.
func (s Sides) Markdown() string {
	paragraphs := append([]string{s.Verdict(), s.Sentence()}, s.remarks()...)
	var rows [][]string
	for _, r := range s.rows() {
		if !r.change.decidesAlike() || len(r.problems()) > 0 {
			rows = append(rows, []string{effects[r.change.Kind()], r.found.Inbound.String(), r.change.Text, witnessText(r.change), r.change.Old.placedText(), r.change.New.placedText()})
		}
	}
	return markdown.Sheet("What A and B decide otherwise", paragraphs, []string{"effect", "inbound", "requests", "such as", "A", "B"}, rows)
}

// sidesJSON is the JSON form of two sides.
type sidesJSON struct {
	Sentence   string      `json:"sentence"`
	Classes    int         `json:"classes"`
	Complete   bool        `json:"complete"`
	Alike      int         `json:"alike"`
	OnlyA      int         `json:"onlyA"`
	OnlyB      int         `json:"onlyB"`
	Shadow     int         `json:"shadow"`
	Envoy      string      `json:"envoy,omitempty"`
	Comparison []classJSON `json:"comparison"`
	Failures   []string    `json:"failures"`
	Remarks    []string    `json:"remarks,omitempty"`
	// Passed is what differs beside the policies and cannot matter.
	Passed []manifestdiff.Passed `json:"passed,omitempty"`
	Fails  bool                  `json:"fails"`
}

// classJSON is one class of requests.
type classJSON struct {
	Case    string `json:"case"`
	Inbound string `json:"inbound"`
	Effect  string `json:"effect"`
	Alike   bool   `json:"alike"`
	Class   string `json:"class"`
	result.Witness
	A        opinionJSON `json:"a"`
	B        opinionJSON `json:"b"`
	Problems []string    `json:"problems,omitempty"`
}

// MarshalJSON implements [json.Marshaler].
func (s Sides) MarshalJSON() ([]byte, error) {
	counts := s.counts()
	out := sidesJSON{
		Sentence: s.Sentence(), Classes: s.Changes(), Complete: len(s.sampled()) == 0, Alike: counts[OriginChanged], OnlyA: counts[Narrowed],
		OnlyB: counts[Widened], Shadow: counts[ShadowChanged], Envoy: s.Envoy, Comparison: []classJSON{},
		Failures: append([]string{}, s.Failures()...), Remarks: s.remarks(), Passed: s.Passed, Fails: len(s.Failures()) > 0 || s.Confirmed().Failed > 0,
	}
	for _, r := range s.rows() {
		out.Comparison = append(out.Comparison, classJSON{
			Case: r.subject.New.Name, Inbound: r.found.Inbound.String(), Effect: effects[r.change.Kind()], Alike: r.change.decidesAlike(), Class: r.change.Text,
			Witness: result.WitnessOf(r.change.Request), A: newOpinionJSON(r.change.Old), B: newOpinionJSON(r.change.New), Problems: r.problems(),
		})
	}
	return terminal.MarshalJSON(out)
}
