package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/internal/matrix"
	"github.com/meshproof/meshproof/internal/mutation"
	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/suite"
	"github.com/meshproof/meshproof/internal/terminal"
)

// mutateOptions are the flags of mutate.
type mutateOptions struct {
	version     string
	runtime     harness.Runtime
	filter      caseFilter
	ownRequests bool
	output      outputFormat
	report      string
}

func newMutate() *cobra.Command {
	var o mutateOptions
	cmd := &cobra.Command{
		Use:   "mutate [PATH…]",
		Short: "Score cases by the mistakes that they would notice (without a path: the built-in user stories)",
		Long: `Mutate makes one mistake at a time in what the policies of a case compile to: a deny behind an allow,
an exact match turned prefix, a rule lost, and more. It runs the case on each, on a real Envoy; a mistake
that the case fails with is killed, one that it passes with has survived. Mistakes that change no decision
are left out.

A case is tried with its own requests and those of its proof, see meshproof prove; with --own-requests with
its own alone. Exit status 1 where a mistake survived.`,
		Example: `  meshproof mutate cases/kuma/mesh-operator-2.yaml
  meshproof mutate my-cases --own-requests`,
		ValidArgsFunction: completeFiles,
		RunE: func(cmd *cobra.Command, paths []string) error {
			return o.run(cmd.Context(), paths, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	addLab(cmd, &o.version, &o.runtime)
	flags.Var(&o.filter, "case", "only the cases whose name or story matches this regular expression")
	flags.BoolVar(&o.ownRequests, "own-requests", false, "score the requests that the cases state, without those of their proofs")
	flags.StringVar(&o.report, "report", "", "write a report with the score into this folder")
	addOutput(cmd, &o.output)
	return cmd
}

func (o mutateOptions) run(ctx context.Context, paths []string, stdout, stderr io.Writer) (err error) {
	chosen, err := runOptions{filter: o.filter}.load(paths, matrix.Selection{})
	if err != nil {
		return err
	}
	if err := prepareReport(o.report); err != nil {
		return err
	}
	began := time.Now()
	progress := terminal.NewProgress(stderr, len(chosen))
	defer progress.Stop()
	h, err := startLab(ctx, o.version, o.runtime)
	if err != nil {
		return err
	}
	defer func() { err = also(err, closed(h.Close())) }()
	scores, results, failed, err := o.score(ctx, h, chosen, progress)
	progress.Stop()
	switch {
	case context.Cause(ctx) != nil:
		return context.Cause(ctx)
	case err != nil:
		return machine(err)
	}
	s := scored{envoy: h.Version(), runtime: h.Runtime().String(), all: scores, failed: failed}
	if o.output == outputJSON {
		err = s.writeJSON(stdout)
	} else {
		s.writeText(stdout, terminal.PaintFor(stdout))
	}
	if err == nil && o.report != "" {
		run := labReport(ctx, h, began)
		killed, of := s.counts()
		run.MutationScore = &report.Score{Killed: killed, Of: of}
		for _, r := range results {
			run.Add(labCase(r, r.Case.Story, "", run))
		}
		err = writeLabReport(o.report, run, began)
	}
	return also(s.exit(), err)
}

// score runs the mutants of each case; the results are those without a mistake, and a
// case that fails without one is named.
func (o mutateOptions) score(ctx context.Context, h *harness.Harness, chosen []cases.Case, progress *terminal.Progress) (scores []mutation.Score, results []result.Case, failed []string, err error) {
	tester := mutation.Tester{Runner: suite.Runner{Harness: h}, OwnRequests: o.ownRequests}
	for _, c := range chosen {
		s, err := tester.Case(ctx, c)
		switch {
		case errors.Is(err, mutation.ErrBaseline):
			failed = append(failed, fmt.Sprintf("%s: %s: %v", c.Place, c.Name, mutation.ErrBaseline))
		case err != nil:
			return nil, nil, nil, err
		}
		if s.Baseline.Case.Name != "" {
			results = append(results, s.Baseline)
		}
		scores = append(scores, s)
		progress.End(c.Name, false)
	}
	return scores, results, failed, nil
}

// scored is what mutate prints.
type scored struct {
	envoy, runtime string
	all            []mutation.Score
	// failed are the cases that have no score.
	failed []string
}

func (s scored) counts() (killed, of int) {
	for _, score := range s.all {
		killed += score.Killed()
		of += len(score.Mutants)
	}
	return killed, of
}

// left counts what was no mistake.
func (s scored) left() mutation.Left {
	var out mutation.Left
	for _, score := range s.all {
		out.Equivalent += score.Equivalent
		out.Invalid += score.Invalid
	}
	return out
}

func (s scored) exit() error {
	if killed, of := s.counts(); killed < of || len(s.failed) > 0 {
		return &exitError{code: exitDiffers}
	}
	return nil
}

func (s scored) sentence() string {
	killed, of := s.counts()
	if of == 0 {
		return "there is no mistake to make: no case states a request that is decided by a policy"
	}
	percent := 100 * float64(killed) / float64(of)
	// Never rounded up to all of them.
	text := fmt.Sprintf("%.1f %%", percent)
	if killed < of && text == "100.0 %" {
		text = "99.9 %"
	}
	left := s.left()
	return fmt.Sprintf("%d of %d mistakes killed on Envoy %s, %d equivalent, %d invalid: score %s", killed, of, s.envoy, left.Equivalent, left.Invalid, text)
}

// byKind counts the mutants of each kind.
func (s scored) byKind() map[mutation.Kind][2]int {
	out := map[mutation.Kind][2]int{}
	for _, score := range s.all {
		for _, v := range score.Mutants {
			n := out[v.Kind]
			n[1]++
			if v.Killed {
				n[0]++
			}
			out[v.Kind] = n
		}
	}
	return out
}

func (s scored) writeText(w io.Writer, p terminal.Paint) {
	for _, score := range s.all {
		for _, v := range score.Mutants {
			if !v.Killed {
				fmt.Fprintf(w, "%s %s: %s\n  %s: %s at %s\n  %s\n", p.Mark(false), score.Case.Place, terminal.Printable(score.Case.Name), v.Inbound, v.Kind, terminal.Printable(terminal.Abridge(v.Where)), v.Reason)
			}
		}
	}
	kinds := s.byKind()
	table := terminal.Table{{"mistake", "killed", "survived"}}
	for _, k := range mutation.Kinds() {
		if n, ok := kinds[k]; ok {
			table = append(table, []string{k.String(), fmt.Sprint(n[0]), fmt.Sprint(n[1] - n[0])})
		}
	}
	for _, line := range table.Lines() {
		fmt.Fprintln(w, line)
	}
	for _, line := range s.failed {
		fmt.Fprintf(w, "%s %s\n", p.Mark(false), terminal.Printable(line))
	}
	fmt.Fprintf(w, "\n%s %s (%s)\n", p.Mark(s.exit() == nil), s.sentence(), s.runtime)
}

// The JSON form of a score.
type jsonScore struct {
	Envoy      string       `json:"envoy"`
	Runtime    string       `json:"runtime"`
	Killed     int          `json:"killed"`
	Of         int          `json:"of"`
	Equivalent int          `json:"equivalent"`
	Invalid    int          `json:"invalid"`
	Failed     []string     `json:"failed,omitempty"`
	Mutants    []jsonMutant `json:"mutants"`
}

type jsonMutant struct {
	Case    string `json:"case"`
	Inbound string `json:"inbound"`
	Mistake string `json:"mistake"`
	Where   string `json:"where"`
	Killed  bool   `json:"killed"`
	Reason  string `json:"reason"`
}

func (s scored) writeJSON(w io.Writer) error {
	out := jsonScore{Envoy: s.envoy, Runtime: s.runtime, Equivalent: s.left().Equivalent, Invalid: s.left().Invalid, Failed: s.failed, Mutants: []jsonMutant{}}
	out.Killed, out.Of = s.counts()
	for _, score := range s.all {
		for _, v := range score.Mutants {
			out.Mutants = append(out.Mutants, jsonMutant{score.Case.Name, v.Inbound, v.Kind.String(), v.Where, v.Killed, v.Reason})
		}
	}
	return terminal.WriteJSON(w, out)
}
