package matrix

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/differential"
	"github.com/meshproof/meshproof/internal/feature"
	"github.com/meshproof/meshproof/internal/policyset"
	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/suite"
	"github.com/meshproof/meshproof/internal/terminal"
)

// FreshCase is the name of the case that stands for the policies that no compiler can know
// beforehand, see [Suite.Sets].
const FreshCase = "policies that were drawn for this run"

// FreshSets is the usual number of [Suite.Sets].
const FreshSets = 40

// freshForms returns the forms of policies to draw: those of the profiles that are asked for.
func (s Suite) freshForms(covered []cases.Case) []policyset.Form {
	var out []policyset.Form
	for _, p := range s.askedProfiles(covered) {
		out = append(out, policyset.Forms(p)...)
	}
	return out
}

// undrawn has a skipped case for each profile that is asked for and whose policies cannot be
// drawn, so that no compiler passes for conformant by what it may have learnt by heart.
func (s Suite) undrawn(covered []cases.Case) []result.Case {
	if !s.foreign() || s.Sets == 0 || s.Shard.part.Number > 1 {
		return nil
	}
	var out []result.Case
	for _, p := range s.askedProfiles(covered) {
		if len(policyset.Forms(p)) == 0 {
			name := fmt.Sprintf("%s: %s", FreshCase, p)
			out = append(out, result.Case{
				Case:    cases.Case{Name: name, Story: "drawn-policies", Place: name, Features: []feature.Name{policyset.Core(p)}},
				Skipped: fmt.Sprintf("policies of %s cannot be drawn yet", p),
			})
		}
	}
	return out
}

// askedProfiles returns the claimed profiles of which there is a case. A profile without cases is
// not in the report either.
func (s Suite) askedProfiles(covered []cases.Case) []feature.Profile {
	var out []feature.Profile
	for _, p := range s.Selection.Claimed() {
		if p == feature.KumaRoutes {
			continue // no compiler is asked for the outbound side of a sidecar
		}
		for _, c := range covered {
			if reason, _ := s.Selection.Skip(c); reason == "" && slices.ContainsFunc(c.Features, func(name feature.Name) bool { f, _ := feature.Lookup(name); return f.Profile == p }) {
				out = append(out, p)
				break
			}
		}
	}
	return out
}

// fresh has the compiler under test compile policies that were drawn for this run, and asks
// Envoy about them. Then it asks the compiler for everything again. It returns nil where
// meshproof's own compiler is tested, and in all shards but the first, which draws for the
// cases of all shards; see [underway.askAgain].
func (u *underway) fresh(ctx context.Context) *result.Case {
	s := u.suite
	compiler, foreign := u.runner.Compiler.(*suite.Foreign)
	if !foreign || s.Sets == 0 || s.Shard.part.Number > 1 {
		return nil
	}
	covered, err := s.covered()
	if err != nil {
		return &result.Case{Fault: true, Err: err}
	}
	forms := s.freshForms(covered)
	if len(forms) == 0 {
		return nil
	}
	out := &result.Case{
		Case:  cases.Case{Name: FreshCase, Story: "drawn-policies", Place: fmt.Sprintf("seed %d", s.Seed)},
		Drawn: &result.Drawn{Seed: s.Seed},
	}
	for _, f := range forms {
		if name := policyset.Core(f.Profile()); !slices.Contains(out.Case.Features, name) {
			out.Case.Features = append(out.Case.Features, name)
		}
	}
	if s.Sets < 0 {
		out.Skipped = "no set of policies was to be drawn"
		return out
	}
	source := newSource(s, covered, forms)
	if !u.askDrawn(ctx, source, out) {
		return out
	}
	u.askMustRefuse(ctx, source, out)
	again, err := compiler.AskAgain(ctx, s.Seed)
	out.Drawn.Again, out.Drawn.Others = again.Answers, again.Others
	for _, problem := range again.Problems[:min(len(again.Problems), mostProblems)] {
		out.Drawn.Problems = append(out.Drawn.Problems, problem.String())
	}
	errs := []error{err}
	for _, problem := range out.Drawn.Problems {
		errs = append(errs, errors.New(problem))
	}
	out.Fault, out.Err = out.Fault || err != nil, errors.Join(errs...)
	out.Notes = notesOf(out.Drawn)
	return out
}

// askDrawn asks Envoy about drawn policies, and holds more of them against the compiler on paper. It returns false where the
// result is complete, because nothing can be drawn or something broke.
func (u *underway) askDrawn(ctx context.Context, source *source, out *result.Case) bool {
	fuzzer := differential.Fuzzer{Runner: u.runner, Seed: u.suite.Seed, Draw: source.draw, KeepSets: true}
	drawn, err := fuzzer.Run(ctx, differential.Limit{Sets: u.suite.Sets})
	out.Drawn.Sets, out.Drawn.Decisions, out.Took = drawn.Sets, drawn.Decisions, drawn.Took
	switch {
	case errors.Is(err, differential.ErrNotAdmitted):
		out.Skipped = "no policies can be drawn without the features that are not claimed"
		return false
	case err != nil:
		out.Fault, out.Err = true, err
		return false
	}
	if len(drawn.Disagreements) == 0 {
		drawn.Disagreements, err = u.onPaper(ctx, source, out.Drawn)
		switch {
		case errors.Is(err, errPaper):
			out.Drawn.Problems = append(out.Drawn.Problems, err.Error())
		case err != nil:
			out.Fault, out.Err = true, err
			return false
		}
	}
	out.Drawn.Problems = append(out.Drawn.Problems, problemsOf(drawn)...)
	return true
}

// problemsOf says what keeps drawn policies from being verified: sets that differ, and sets that are in doubt on this Envoy.
func problemsOf(drawn differential.Report) (out []string) {
	for _, d := range drawn.Disagreements {
		for _, problem := range d.Problems[:min(len(d.Problems), mostProblems)] {
			out = append(out, fmt.Sprintf("set %d: %s", d.Set, problem))
		}
	}
	if drawn.Doubted > 0 {
		out = append(out, fmt.Sprintf("%s not verified: %s", terminal.Count(drawn.Doubted, "set"), drawn.Doubt))
	}
	return out
}

// askMustRefuse asks about drawn policies that every compiler has to refuse.
func (u *underway) askMustRefuse(ctx context.Context, source *source, out *result.Case) {
	quiet := u.runner
	quiet.Done = nil
	for _, r := range quiet.Run(ctx, source.mustRefuse(u.suite.Sets)...) {
		out.Fault = out.Fault || r.Fault
		if failures := r.Failures(); len(failures) > 0 {
			out.Drawn.Problems = append(out.Drawn.Problems, fmt.Sprintf("%s: %s", r.Case.Name, failures[0]))
		}
	}
}

// notesOf says what was asked of a compiler, and that this is all that a run shows.
func notesOf(d *result.Drawn) []string {
	left := ""
	if d.Unread > 0 {
		left = fmt.Sprintf(" (%d left out: their filters cannot be read back whole)", d.Unread)
	}
	return []string{
		fmt.Sprintf("seed %d: %s of policies, %s; %d more sets read back%s; %s to questions asked again, %d of them other than before", d.Seed,
			terminal.Count(d.Sets, "set"), terminal.Count(d.Decisions, "decision"), d.ReadBack, left, terminal.Count(d.Again, "answer"), d.Others),
		(*report.Drawn)(d).Shows(),
	}
}

// mostProblems bounds the problems of a set that are told: they tend to have one cause.
const mostProblems = 3

// askAgain asks the compiler again for the cases of a shard that draws no policies. A case fails
// where an answer is worse than the first one.
func (u *underway) askAgain(ctx context.Context, ran map[string]result.Case) {
	s := u.suite
	compiler, foreign := u.runner.Compiler.(*suite.Foreign)
	if !foreign || s.Sets <= 0 || s.Shard.part.Number <= 1 {
		return
	}
	again, err := compiler.AskAgain(ctx, s.Seed)
	fail := func(name string, fault bool, err error) {
		r := ran[name]
		r.Fault, r.Err = r.Fault || fault, errors.Join(r.Err, err)
		ran[name] = r
	}
	for _, problem := range again.Problems {
		fail(problem.Case, false, errors.New(problem.String()))
	}
	if err != nil {
		for name := range ran {
			fail(name, true, fmt.Errorf("asked again: %w", err))
		}
	}
}
