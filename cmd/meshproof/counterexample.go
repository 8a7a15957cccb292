package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/casewriter"
	"github.com/meshproof/meshproof/internal/counterexample"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/suite"
	"github.com/meshproof/meshproof/internal/terminal"
	"github.com/meshproof/meshproof/internal/verdict"
)

// mostCounterexamples is how many are written; mostShrunk is how many requests are made
// smaller to find as many that differ.
const (
	mostCounterexamples = 3
	mostShrunk          = 12
)

// shrunkCase is the smallest case that shows a disagreement.
type shrunkCase struct {
	file  string
	small cases.Case
	// result is what became of it, filters what was compiled for it.
	result  result.Case
	filters string
	again   string
}

// findCounterexamples shrinks what was not decided as specified, and writes it as case
// files. Its error says what could not be written.
func (o *proveOptions) findCounterexamples(ctx context.Context, p *provenAll, runner suite.Runner, progress *terminal.Progress) error {
	defer progress.Stop()
	runner.Done = nil
	causes := map[string]bool{}
	for _, one := range p.all {
		seen := map[string]bool{}
		for _, q := range one.verdict.Disagreements {
			// One of each inbound and caller: the others tend to have the same cause.
			key := q.To + " " + q.From.Name
			if seen[key] || len(p.counterexamples) == mostCounterexamples || len(seen) == mostShrunk {
				continue
			}
			seen[key] = true
			progress.Show("looking for the smallest case that shows it")
			small := counterexample.Shrink(ctx, stillWrong(runner, one.result.Case, q), one.result.Case, q.Request)
			cause := causeOf(small)
			if causes[cause] {
				continue
			}
			causes[cause] = true
			c, err := o.newCounterexample(ctx, len(p.counterexamples)+1, small, runner)
			if err != nil {
				return err
			}
			p.counterexamples = append(p.counterexamples, c)
		}
	}
	return nil
}

// causeOf is what two counterexamples of one cause tend to share: the policies, the
// inbound, and what was wanted.
func causeOf(c cases.Case) string {
	var b strings.Builder
	for _, doc := range c.Policies {
		b.Write(doc.YAML())
	}
	for _, q := range c.Requests {
		fmt.Fprintf(&b, "%s %s\n", q.To, q.Want)
	}
	return b.String()
}

func (o *proveOptions) newCounterexample(ctx context.Context, n int, small cases.Case, runner suite.Runner) (shrunkCase, error) {
	// Cases of one folder need names of their own.
	small.Name = fmt.Sprintf("%d: %s", n, small.Name)
	c := shrunkCase{file: filepath.Join(o.counterexamples, fmt.Sprintf("%d.yaml", n)), small: small}
	if err := os.MkdirAll(o.counterexamples, 0o755); err != nil {
		return c, fmt.Errorf("--counterexamples: %w", err)
	}
	if err := os.WriteFile(c.file, casewriter.YAML(small), 0o644); err != nil {
		return c, fmt.Errorf("--counterexamples: %w", err)
	}
	// Read back, so that what is said of it names its own lines.
	if read, err := cases.Parse(c.file, casewriter.YAML(small)); err == nil && len(read) == 1 {
		small, c.small = read[0], read[0]
	}
	c.result = runner.Case(ctx, small)
	c.filters = compiledText(ctx, runner.Compiler, small)
	words := append([]string{"meshproof", "run", terminal.Quote(c.file)}, o.compiler.words()...)
	if o.anyNames {
		words = append(words, "--any-names")
	}
	c.again = strings.Join(append(words, "--envoy", runner.Harness.Version(), "--runtime", runner.Harness.Runtime().String()), " ")
	return c, nil
}

// compiledText is what the compiler under test makes of the case's inbounds, as JSON.
func compiledText(ctx context.Context, compiler suite.Compiler, c cases.Case) string {
	if compiler == nil {
		compiler = suite.Reference
	}
	var b strings.Builder
	for _, in := range c.Inbounds {
		filters, err := suite.CompileOne(ctx, compiler, in.Inbound, c.Policies, c.Options)
		if err != nil {
			fmt.Fprintf(&b, "%v\n", err)
			continue
		}
		for _, m := range filters.Messages() {
			text, err := typedJSON(m)
			if err != nil {
				text = []byte(err.Error())
			}
			fmt.Fprintf(&b, "%s\n", text)
		}
	}
	return b.String()
}

// write prints the case, what it compiles to, what was seen, and how to repeat it.
func (c shrunkCase) write(w io.Writer, p terminal.Paint) {
	fmt.Fprintf(w, "counterexample: %s\n", c.file)
	section := func(title, text string) {
		fmt.Fprintf(w, "  %s\n", title)
		for line := range strings.Lines(text) {
			fmt.Fprintf(w, "    %s\n", strings.TrimRight(line, "\n"))
		}
	}
	section("case", string(casewriter.YAML(c.small)))
	section("compiled", c.filters)
	fmt.Fprintln(w, "  seen")
	if c.result.Err != nil {
		fmt.Fprintf(w, "    %s\n", p.Red(c.result.Err.Error()))
	}
	for _, q := range c.result.Requests {
		c.result.WriteRequest(w, p, q)
	}
	fmt.Fprintf(w, "  again: %s\n\n", c.again)
}

// stillWrong tells whether a smaller case shows the same: a wrong decision where there
// was one, for a wrong name alone is another matter.
func stillWrong(runner suite.Runner, whole cases.Case, q result.Request) func(context.Context, *verdict.Reading) bool {
	return func(ctx context.Context, smaller *verdict.Reading) bool {
		// The policies tell the dialect: without any, another question is asked.
		if len(smaller.Case.Policies) == 0 && len(whole.Policies) > 0 {
			return false
		}
		r := runner.Read(ctx, smaller)
		if r.Fault || len(r.Requests) == 0 {
			return false
		}
		return r.Failed() && (!q.DecidedWrong() || r.Requests[0].DecidedWrong())
	}
}
