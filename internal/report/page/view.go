package page

import (
	"cmp"
	"fmt"
	"html/template"
	"strings"

	"github.com/meshproof/meshproof/internal/report"
)

// view has everything that the page shows.
type view struct {
	Style  template.CSS
	Script template.JS
	Policy string
	// Title is the kind of report, Heading the title of the matrix, Verdict a sentence with
	// the result, and Result the status of all cases together.
	Title, Heading string
	Verdict        string
	Result         status
	// Facts hold for all runs. Columns names the attributes that differ between the runs.
	Facts   []fact
	Columns []string
	Runs    []runView
	Failed  []failedCase
	Differs []differentCase
	// Nuances are cases that differ in their evidence, but not in their decisions.
	Nuances []*caseView
	// Times has all cases, Slow the first of the slow cases. SlowCases counts the slow cases.
	Times, Slow []caseTime
	SlowCases   int
	Profiles    []profileView
	Advisories  []advisoryView
	// Total counts the cases, Requests the requests of all runs.
	Total, Requests int
}

// fact is a fact about a run. Link may be empty.
type fact struct{ Name, Text, Link string }

// runView is a column of the matrix.
type runView struct {
	Label, SHA256 string
	Tally         report.Tally
	Requests      int
	Time          string
	// More has a text for each of the columns of the view.
	More []string
}

// status is the status of a case: a text of [report.Case.Status], or [absent].
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

// worstStatus is the status of several cases: failed if one failed, else passed if one
// passed, else what the others are.
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

// Sign is a sign for the status, for readers who see no colours.
func (s status) Sign() string {
	return cmp.Or(map[status]string{passed: "✓", failed: "✗", notProven: "?", skipped: "◌", notApplicable: "n/a"}[s], "–")
}

// Words is the status with its sign. "n/a" is left out, because it abbreviates the words.
func (s status) Words() string {
	if s == notApplicable {
		return string(s)
	}
	return s.Sign() + " " + string(s)
}

// Class is the name of the status in the style.
func (s status) Class() string {
	return string(cmp.Or(map[status]status{passed: passed, failed: failed, notProven: failed, skipped: skipped}[s], "absent"))
}

// Gated reports whether the case proves nothing in its run, even if its requests have results.
func (s status) Gated() bool { return s == skipped || s == notApplicable }

// profileView is a part of the matrix.
type profileView struct {
	Name    string
	Stories []*storyView
}

// storyView is a row of the matrix, and a section of the page.
type storyView struct {
	ID, Name string
	// Sentence is the sentence of the feature that the story is about; it may be empty.
	Sentence string
	Cases    []*caseView
	Cells    []storyCell
}

// storyCell is a cell of the matrix.
type storyCell struct {
	// ID is the target of the link: a result of one of the cases of the story. NoCases: the
	// run has none of the cases, and the target is the story.
	ID      string
	NoCases bool
	Run     string
	Status  status
	// Text stands beside the sign, Rest has the counts of skipped cases, Label says it in
	// words.
	Text, Rest, Label, Time string
}

// caseView is a case in all runs.
type caseView struct {
	ID, Name, Place string
	Features        []string
	// Odd: the case failed in a run, or runs differ in it.
	Odd     bool
	Results []caseResult
	// Uniform: all runs have the same status.
	Uniform bool
	Notes   []note
	// Again has the commands that repeat the case.
	Again    []string
	Groups   []*group
	Evidence []*evidenceView
	Sources  []note

	runs []*report.Case
}

// Status is the status of the first run, and of all runs if the case is uniform.
func (c *caseView) Status() status { return c.Results[0].Status }

// Requests counts the requests of the first run that has some.
func (c *caseView) Requests() int {
	for _, r := range c.runs {
		if r != nil && r.Asked() > 0 {
			return r.Asked()
		}
	}
	return 0
}

// caseResult is the result of a case in one run.
type caseResult struct {
	// ID is empty unless a cell of the matrix links here.
	ID      string
	Run     string
	Status  status
	Time    string
	Slow    bool
	Retries int
}

// note is a text, with the names of the runs that have it, "" for all runs.
type note struct{ Kind, Text, RunNames string }

// Class is the name of the kind in the style.
func (n note) Class() string {
	if n.Kind == "Failed" {
		return failed.Class()
	}
	return skipped.Class()
}

// group is the runs that have the same evidence of a case.
type group struct {
	// RunNames names the runs, "" if they are all runs that have the case. Seen says that they
	// have the same evidence.
	RunNames, Seen, SHA256 string
	Table                  *table
	// Routed are the requests through sidecars.
	Routed   []routedRow
	Counters []string

	runs []int
	// seen has the decision of each request.
	seen map[report.Asking]string
}

// Runs has the columns of the runs of the group, for the script.
func (g *group) Runs() string { return strings.Trim(fmt.Sprint(g.runs), "[]") }

// failedCase is a case that failed, with its first problems.
type failedCase struct {
	Case     *caseView
	Problems []note
}

// differentCase is a case where runs differ.
type differentCase struct {
	Case    *caseView
	Rows    []differentRequest
	Reasons []note
}

// differentRequest is a request that runs decided in different ways.
type differentRequest struct {
	Inbound, Request, Caller string
	Cells                    [][]cell
}
