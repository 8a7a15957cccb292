package page

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/meshproof/meshproof/internal/report"
)

// view is what the page shows.
type view struct {
	Style  template.CSS
	Script template.JS
	Policy string
	// Title is what kind of report it is, Heading what the matrix has, Verdict a sentence,
	// Result how it went on the whole.
	Title, Heading string
	Verdict        string
	Result         status
	// Facts hold for all runs, Columns name what the runs differ in.
	Facts   []fact
	Columns []string
	Runs    []runView
	Failed  []failedCase
	Differs []differentCase
	// Nuances are cases that differ in what was seen, and not in what was decided.
	Nuances []*caseView
	// Times has all cases, Slow the first of those that are slow, SlowCases how many are.
	Times, Slow []caseTime
	SlowCases   int
	Profiles    []profileView
	// Total counts cases, Requests what was asked on all runs.
	Total, Requests int
}

// fact is something said of a run, with a link where there is one.
type fact struct{ Name, Text, Link string }

// runView is a column of the matrix.
type runView struct {
	Label, SHA256 string
	Tally         report.Tally
	Requests      int
	Time          string
	// More has what stands under the columns of the view.
	More []string
}

// status is what became of a case, in the words of [Case.status], or [absent].
type status string

const (
	passed        status = "passed"
	failed        status = "failed"
	notProven     status = "not proven"
	skipped       status = "skipped"
	notApplicable status = "not applicable"
	// absent is the status of a case that a run does not have.
	absent status = "not run"
)

func statusOf(c *report.Case) status {
	if c == nil {
		return absent
	}
	return status(c.Status())
}

// worstStatus is the status of several cases: the worst that there is, and passed
// before what proves nothing.
func worstStatus(t report.Tally) status {
	switch {
	case t.Failed > 0:
		return failed
	case t.Passed > 0:
		return passed
	case t.Skipped > 0:
		return skipped
	case t.NotApplicable > 0:
		return notApplicable
	default:
		return absent
	}
}

// Sign tells a status from the others without colour.
func (s status) Sign() string {
	switch s {
	case passed:
		return "✓"
	case failed:
		return "✗"
	case notProven:
		return "?"
	case skipped:
		return "◌"
	case notApplicable:
		return "n/a"
	default:
		return "–"
	}
}

// Words is the status with its sign, where that is not an abbreviation of it.
func (s status) Words() string {
	if s == notApplicable {
		return string(s)
	}
	return s.Sign() + " " + string(s)
}

// Class is the status as the style calls it.
func (s status) Class() string {
	switch s {
	case passed, failed, skipped:
		return string(s)
	case notProven:
		return string(failed)
	default:
		return "absent"
	}
}

// Gated tells whether the case proves nothing on its run, whatever its requests say.
func (s status) Gated() bool { return s == skipped || s == notApplicable }

// profileView is a part of the matrix.
type profileView struct {
	Name    string
	Stories []*storyView
}

// storyView is a row of the matrix, and a section of the page.
type storyView struct {
	ID, Name string
	// About is what the story is about, by the feature that sets it apart; it may be empty.
	About string
	Cases []*caseView
	Cells []storyCell
}

// storyCell is a cell of the matrix.
type storyCell struct {
	// ID is where the cell leads to: a result of one of the story's cases, or the story
	// itself where Bare tells that its run has none of them.
	ID     string
	Bare   bool
	Run    string
	Status status
	// Text is what the cell shows beside its sign, Rest what does not count, Label what
	// it says in words.
	Text, Rest, Label, Time string
}

// caseView is a case on all runs.
type caseView struct {
	ID, Name, Place string
	Features        []string
	// Odd is true where the case failed, or runs differ in it.
	Odd     bool
	Results []caseResult
	// Uniform tells whether all runs have the status of the first.
	Uniform bool
	Notes   []note
	// Again has the commands that repeat the case.
	Again    []string
	Groups   []*group
	Evidence []*evidenceView
	Sources  []note

	runs []*report.Case
}

// Status is that of all runs where they agree.
func (c *caseView) Status() status { return c.Results[0].Status }

// Requests counts those of the first run that has any.
func (c *caseView) Requests() int {
	for _, r := range c.runs {
		if r != nil && len(r.Requests) > 0 {
			return len(r.Requests)
		}
	}
	return 0
}

// caseResult is what became of a case on one run.
type caseResult struct {
	// ID is empty but where a cell of the matrix leads here.
	ID      string
	Run     string
	Status  status
	Time    string
	Slow    bool
	Retries int
}

// note is a text with the runs that it holds for, empty for all.
type note struct{ Kind, Text, On string }

// Class is the kind of a note as the style calls it.
func (n note) Class() string {
	if n.Kind == "Failed" {
		return failed.Class()
	}
	return skipped.Class()
}

// group is the runs that saw the same of a case.
type group struct {
	// On names the runs, empty where they are all that have the case; Seen says that
	// they saw the same.
	On, Seen, SHA256 string
	Table            *table
	Counters         []string

	runs []int
	seen map[report.Asking]report.Request
}

// Runs is the places of the group's runs among the columns, for the script.
func (g *group) Runs() string { return strings.Trim(fmt.Sprint(g.runs), "[]") }

// failedCase is a case that failed, with the first of its problems.
type failedCase struct {
	Case     *caseView
	Problems []note
}

// differentCase is a case in which runs differ.
type differentCase struct {
	Case    *caseView
	Rows    []differentRequest
	Reasons []note
}

// differentRequest is a request that did not come out the same on all runs.
type differentRequest struct {
	Inbound, Request, Caller string
	Cells                    [][]cell
}
