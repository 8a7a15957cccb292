// Package counterexample makes small cases out of cases that fail.
//
// [Shrink] guarantees that its result fails in the same way as the case that it was made
// of, and that it can be written to a case file. It does not guarantee that no smaller
// case exists. [Finder] chooses what is worth shrinking, one request of each cause, and
// writes the results as case files. The package starts no Envoy: it is told how to run a
// case.
package counterexample

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/casewriter"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/terminal"
	"github.com/meshproof/meshproof/internal/verdict"
)

// The bounds of one search. mostFound is how many counterexamples are written, mostShrunk
// how many requests of a case are shrunk to find them.
const (
	mostFound  = 3
	mostShrunk = 12
)

// Suspect is a case with the requests that were not decided as specified.
type Suspect struct {
	Case     cases.Case
	Requests []result.Request
	// RoutedRequests are those through sidecars.
	RoutedRequests []result.RoutedRequest
}

// Counterexample is the smallest case that shows a disagreement.
type Counterexample struct {
	// File is the case file that it was written to.
	File string
	Case cases.Case
	// Result is what became of it, Filters what the compiler makes of it.
	Result  result.Case
	Filters string
	// Again is the command that repeats it.
	Again string
}

// Finder looks for counterexamples. All its fields are needed.
type Finder struct {
	// Folder is where the case files are written. It is made where there is something to
	// write.
	Folder string
	// Run runs a case.
	Run func(context.Context, *verdict.Reading) result.Case
	// Filters prints what the compiler under test makes of a case.
	Filters func(context.Context, cases.Case) string
	// Again returns the command that runs a case file.
	Again func(file string) string
	// Looking is called before each search.
	Looking func()
}

// CheckFolder refuses a name for [Finder.Folder] that is not one of a folder.
func CheckFolder(name string) error {
	if info, err := os.Stat(name); err == nil && !info.IsDir() {
		return fmt.Errorf("--counterexamples: %s is not a folder: name a folder", name)
	}
	return nil
}

// Find shrinks what was not decided as specified, and writes it as case files. It takes
// one request of each inbound and caller, for the others tend to have the same cause, and
// keeps one counterexample of each cause. Its error says what could not be written.
func (f Finder) Find(ctx context.Context, suspects []Suspect) ([]Counterexample, error) {
	var out []Counterexample
	var err error
	causes := map[string]bool{}
	for _, s := range suspects {
		seen := map[string]bool{}
		for _, q := range s.Requests {
			key := q.To + " " + q.From.Name
			if seen[key] || len(out) == mostFound || len(seen) == mostShrunk {
				continue
			}
			seen[key] = true
			f.Looking()
			if out, err = f.keep(ctx, Shrink(ctx, f.shows(s.Case, q), s.Case, q.Request), out, causes); err != nil {
				return out, err
			}
		}
		if out, err = f.findRouted(ctx, s, out, causes); err != nil {
			return out, err
		}
	}
	return out, nil
}

// keep writes a counterexample, unless there is one of its cause.
func (f Finder) keep(ctx context.Context, small cases.Case, out []Counterexample, causes map[string]bool) ([]Counterexample, error) {
	cause := causeOf(small)
	if causes[cause] {
		return out, nil
	}
	causes[cause] = true
	c, err := f.write(ctx, len(out)+1, small)
	if err != nil {
		return out, err
	}
	return append(out, c), nil
}

// causeOf returns what counterexamples of one cause tend to share: the policies, the
// inbound, and what is wanted.
func causeOf(c cases.Case) string {
	var b strings.Builder
	for _, doc := range c.Policies {
		b.Write(doc.YAML())
	}
	for _, q := range c.Requests {
		fmt.Fprintf(&b, "%s %s\n", q.To, q.Want)
	}
	return b.String() + routedCause(c)
}

// shows reports whether a smaller case shows the same. Where the decision was wrong, it has
// to be wrong there too: a wrong name alone is another disagreement.
func (f Finder) shows(whole cases.Case, q result.Request) func(context.Context, *verdict.Reading) bool {
	return func(ctx context.Context, smaller *verdict.Reading) bool {
		// The policies tell the dialect: without any, another question is asked.
		if len(smaller.Case.Policies) == 0 && len(whole.Policies) > 0 {
			return false
		}
		r := f.Run(ctx, smaller)
		if r.Fault || len(r.Requests) == 0 {
			return false
		}
		return r.Failed() && (!q.DecidedWrong() || r.Requests[0].DecidedWrong())
	}
}

// write writes the n-th counterexample as a case file and runs it once more.
func (f Finder) write(ctx context.Context, n int, small cases.Case) (Counterexample, error) {
	// Cases of one folder need names of their own.
	small.Name = fmt.Sprintf("%d: %s", n, small.Name)
	c := Counterexample{File: filepath.Join(f.Folder, fmt.Sprintf("%d.yaml", n)), Case: small}
	err := os.MkdirAll(f.Folder, 0o755)
	if err == nil {
		err = os.WriteFile(c.File, casewriter.YAML(small), 0o644)
	}
	if err != nil {
		return c, fmt.Errorf("%w: name a folder in which you may write", err)
	}
	// It is read back, so that its problems name lines of the file.
	if read, err := cases.Parse(c.File, casewriter.YAML(small)); err == nil && len(read) == 1 {
		c.Case = read[0]
	}
	reading, err := verdict.Read(c.Case)
	if err != nil {
		return c, err
	}
	c.Result = f.Run(ctx, reading)
	c.Filters = f.Filters(ctx, c.Case)
	c.Again = f.Again(c.File)
	return c, nil
}

// WriteText prints the case, what it compiles to, what was seen, and how to repeat it.
func (c Counterexample) WriteText(w io.Writer, p terminal.Paint) {
	fmt.Fprintf(w, "counterexample: %s\n", c.File)
	section := func(title, text string) {
		fmt.Fprintf(w, "  %s\n", title)
		for line := range strings.Lines(text) {
			fmt.Fprintf(w, "    %s\n", strings.TrimRight(line, "\n"))
		}
	}
	section("case", string(casewriter.YAML(c.Case)))
	section("compiled", c.Filters)
	fmt.Fprintln(w, "  seen")
	if c.Result.Err != nil {
		fmt.Fprintf(w, "    %s\n", p.Red(c.Result.Err.Error()))
	}
	for _, q := range c.Result.Requests {
		c.Result.WriteRequest(w, p, q)
	}
	for _, r := range c.Result.RoutedRequests {
		r.Write(w, p)
	}
	fmt.Fprintf(w, "  again: %s\n\n", c.Again)
}
