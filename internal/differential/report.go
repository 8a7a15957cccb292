package differential

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/casewriter"
	"github.com/meshproof/meshproof/internal/suite"
	"github.com/meshproof/meshproof/internal/terminal"
)

// Tally counts the sets, inbounds, decisions and pushes so far. Distinct are the sets without those
// that were drawn before with the same policies and workloads.
type Tally struct {
	Sets, Distinct, Inbounds, Decisions, Pushes int
	// Doubted are the sets that were asked and decided as specified, and are not verified all the same,
	// see [result.Case.OnlyDoubted].
	Doubted int
	// Suspects are the sets that were not decided as specified beside others of their push. They
	// are known where a run breaks off before they are examined.
	Suspects int
	// Took is the time since the beginning, without the time for examining.
	Took time.Duration
}

// perSecond returns sets and decisions per second.
func (t Tally) perSecond() (sets, decisions float64) {
	if t.Took <= 0 {
		return 0, 0
	}
	return float64(t.Sets) / t.Took.Seconds(), float64(t.Decisions) / t.Took.Seconds()
}

// Report is the result of a run.
type Report struct {
	Seed uint64
	Tally
	// Disagreements are in the order of their sets.
	Disagreements []Disagreement
	// Worse are the answers that a foreign compiler gave when it was asked again, and that were
	// worse than the first ones.
	Worse []suite.AgainProblem
	// Doubt says why the first of the doubted sets is not verified.
	Doubt string
}

// Holds reports whether every set was decided as specified and verified, however often it was asked.
func (r Report) Holds() bool { return len(r.Disagreements)+len(r.Worse)+r.Doubted == 0 }

// Disagreement is a set that was not decided as specified.
type Disagreement struct {
	// Set is the number of the set.
	Set uint64
	// Case is the whole set with the requests that were asked, Problems what differed.
	Case     cases.Case
	Problems []string
	// Alone is false where the set agreed when it ran alone. Then another set of its push
	// took part in the disagreement.
	Alone bool
	// Counterexample is the smallest case found that still shows the disagreement. It fails
	// when it is run. Where the set agrees alone, it is Case.
	Counterexample cases.Case
	// File is the case file of the counterexample, Again the command that comes to the set
	// once more. [Report.Export] fills them in.
	File, Again string
}

// String says how much was done, and how fast.
func (t Tally) String() string {
	sets, decisions := t.perSecond()
	suspects := ""
	if t.Suspects > 0 {
		suspects = fmt.Sprintf(", %d of them not decided as specified", t.Suspects)
	}
	return fmt.Sprintf("%s of policies (%d different) on %s, %s in %s: %.0f sets/s, %.0f decisions/s in %s%s", terminal.Count(t.Sets, "set"), t.Distinct, terminal.Count(t.Inbounds, "inbound"),
		terminal.Count(t.Decisions, "decision"), terminal.Plural(t.Pushes, "push", "pushes"), sets, decisions, t.Took.Round(time.Millisecond), suspects)
}

// Export writes a case file for each disagreement into a folder, which is made where there
// is one. The function again returns the command that comes to a set once more.
func (r *Report) Export(folder string, again func(set uint64) string) error {
	for i, d := range r.Disagreements {
		r.Disagreements[i].Again = again(d.Set)
	}
	for i := range r.Disagreements {
		d := &r.Disagreements[i]
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
		file := filepath.Join(folder, fmt.Sprintf("seed-%d-set-%d.yaml", r.Seed, d.Set))
		if err := os.WriteFile(file, casewriter.YAML(d.Counterexample), 0o644); err != nil {
			return err
		}
		d.File = file
	}
	return nil
}

// WriteText prints the disagreements, and how much was done.
func (r Report) WriteText(w io.Writer, p terminal.Paint) {
	for _, d := range r.Disagreements {
		fmt.Fprintf(w, "%s set %d is not decided as specified\n", p.Mark(false), d.Set)
		for _, problem := range d.Problems {
			fmt.Fprintf(w, "  %s\n", p.Red(terminal.Printable(problem)))
		}
		if !d.Alone {
			fmt.Fprintln(w, "  alone it is: another set of its push took part in it")
		}
		if d.File != "" {
			fmt.Fprintf(w, "  case file: %s\n", d.File)
		}
		fmt.Fprintf(w, "  again: %s\n\n", d.Again)
	}
	for _, worse := range r.Worse {
		fmt.Fprintf(w, "%s %s\n", p.Mark(false), p.Red(terminal.Printable(worse.String())))
	}
	if r.Doubted > 0 {
		fmt.Fprintf(w, "%s %s not verified on this Envoy, although no decision differs; the first is %s\n", p.Mark(false), terminal.Count(r.Doubted, "set"), terminal.Printable(r.Doubt))
	}
	fmt.Fprintf(w, "%s %s", p.Mark(r.Holds()), r.Tally)
	if n := len(r.Disagreements); n > 0 {
		fmt.Fprintf(w, "; stopped at %s", terminal.Count(n, "disagreement"))
	}
	fmt.Fprintln(w)
}
