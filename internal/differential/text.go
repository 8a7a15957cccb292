package differential

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/meshproof/meshproof/internal/casewriter"
	"github.com/meshproof/meshproof/internal/terminal"
)

// String says how much was done, and how fast.
func (t Tally) String() string {
	sets, decisions := t.Rate()
	return fmt.Sprintf("%s of policies on %s, %s in %s: %.0f sets/s, %.0f decisions/s in %s", terminal.Count(t.Sets, "set"), terminal.Count(t.Inbounds, "inbound"),
		terminal.Count(t.Decisions, "decision"), terminal.Plural(t.Pushes, "push", "pushes"), sets, decisions, t.Took.Round(time.Millisecond))
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
	fmt.Fprintf(w, "%s %s", p.Mark(len(r.Disagreements) == 0), r.Tally)
	if n := len(r.Disagreements); n > 0 {
		fmt.Fprintf(w, "; stopped at %s", terminal.Count(n, "disagreement"))
	}
	fmt.Fprintln(w)
}
