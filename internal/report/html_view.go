package report

import (
	"fmt"
	"html/template"
	"strings"
)

// pageView is what the page shows.
type pageView struct {
	Style  template.CSS
	Script template.JS
	Policy string
	// Title is what kind of report it is, Heading what the matrix has, Verdict a sentence,
	// Result how it went on the whole.
	Title, Heading string
	Verdict        string
	Result         pageStatus
	// Facts hold for all runs, Columns name what the runs differ in.
	Facts   []pageFact
	Columns []string
	Runs    []pageRun
	Failed  []pageFailure
	Differs []pageDifference
	// Nuances are cases that differ in what was seen, and not in what was decided.
	Nuances []*pageCase
	// Times has all cases, Slow the first of those that are slow, SlowCases how many are.
	Times, Slow []pageTime
	SlowCases   int
	Profiles    []pageProfile
	// Total counts cases, Requests what was asked on all runs.
	Total, Requests int
}

// pageFact is something said of a run, with a link where there is one.
type pageFact struct{ Name, Text, Link string }

// pageRun is a column of the matrix.
type pageRun struct {
	Label, SHA256 string
	Tally         Tally
	Requests      int
	Time          string
	// More has what stands under the columns of the view.
	More []string
}

// pageStatus is what became of a case, in the words of [Case.status], or [pageAbsent].
type pageStatus string

const (
	pagePassed        pageStatus = "passed"
	pageFailed        pageStatus = "failed"
	pageNotProven     pageStatus = "not proven"
	pageSkipped       pageStatus = "skipped"
	pageNotApplicable pageStatus = "not applicable"
	// pageAbsent is the status of a case that a run does not have.
	pageAbsent pageStatus = "not run"
)

func pageStatusOf(c *Case) pageStatus {
	if c == nil {
		return pageAbsent
	}
	return pageStatus(c.status())
}

// pageSummary is the status of several cases: the worst that there is, and passed
// before what proves nothing.
func pageSummary(t Tally) pageStatus {
	switch {
	case t.Failed > 0:
		return pageFailed
	case t.Passed > 0:
		return pagePassed
	case t.Skipped > 0:
		return pageSkipped
	case t.NotApplicable > 0:
		return pageNotApplicable
	default:
		return pageAbsent
	}
}

// Sign tells a status from the others without colour.
func (s pageStatus) Sign() string {
	switch s {
	case pagePassed:
		return "✓"
	case pageFailed:
		return "✗"
	case pageNotProven:
		return "?"
	case pageSkipped:
		return "◌"
	case pageNotApplicable:
		return "n/a"
	default:
		return "–"
	}
}

// Words is the status with its sign, where that is not an abbreviation of it.
func (s pageStatus) Words() string {
	if s == pageNotApplicable {
		return string(s)
	}
	return s.Sign() + " " + string(s)
}

// Class is the status as the style calls it.
func (s pageStatus) Class() string {
	switch s {
	case pagePassed, pageFailed, pageSkipped:
		return string(s)
	case pageNotProven:
		return string(pageFailed)
	default:
		return "absent"
	}
}

// Gated tells whether the case proves nothing on its run, whatever its requests say.
func (s pageStatus) Gated() bool { return s == pageSkipped || s == pageNotApplicable }

// pageProfile is a part of the matrix.
type pageProfile struct {
	Name    string
	Stories []*pageStory
}

// pageStory is a row of the matrix, and a section of the page.
type pageStory struct {
	ID, Name string
	// About is what the story is about, by the feature that sets it apart; it may be empty.
	About string
	Cases []*pageCase
	Cells []pageStoryCell
}

// pageStoryCell is a cell of the matrix.
type pageStoryCell struct {
	// ID is where the cell leads to: a result of one of the story's cases, or the story
	// itself where Bare tells that its run has none of them.
	ID     string
	Bare   bool
	Run    string
	Status pageStatus
	// Text is what the cell shows beside its sign, Rest what does not count, Label what
	// it says in words.
	Text, Rest, Label, Time string
}

// pageCase is a case on all runs.
type pageCase struct {
	ID, Name, Place string
	Features        []string
	// Odd is true where the case failed, or runs differ in it.
	Odd     bool
	Results []pageResult
	// Uniform tells whether all runs have the status of the first.
	Uniform bool
	Notes   []pageNote
	// Again has the commands that repeat the case.
	Again    []string
	Groups   []*pageGroup
	Evidence []*pageEvidence
	Sources  []pageNote

	runs []*Case
}

// Status is that of all runs where they agree.
func (c *pageCase) Status() pageStatus { return c.Results[0].Status }

// Requests counts those of the first run that has any.
func (c *pageCase) Requests() int {
	for _, r := range c.runs {
		if r != nil && len(r.Requests) > 0 {
			return len(r.Requests)
		}
	}
	return 0
}

// pageResult is what became of a case on one run.
type pageResult struct {
	// ID is empty but where a cell of the matrix leads here.
	ID      string
	Run     string
	Status  pageStatus
	Time    string
	Slow    bool
	Retries int
}

// pageNote is a text with the runs that it holds for, empty for all.
type pageNote struct{ Kind, Text, On string }

// Class is the kind of a note as the style calls it.
func (n pageNote) Class() string {
	if n.Kind == "Failed" {
		return pageFailed.Class()
	}
	return pageSkipped.Class()
}

// pageGroup is the runs that saw the same of a case.
type pageGroup struct {
	// On names the runs, empty where they are all that have the case; Seen says that
	// they saw the same.
	On, Seen, SHA256 string
	Table            *pageTable
	Counters         []string

	runs []int
	seen map[asking]Request
}

// Runs is the places of the group's runs among the columns, for the script.
func (g *pageGroup) Runs() string { return strings.Trim(fmt.Sprint(g.runs), "[]") }

// pageFailure is a case that failed, with the first of its problems.
type pageFailure struct {
	Case     *pageCase
	Problems []pageNote
}

// pageDifference is a case in which runs differ.
type pageDifference struct {
	Case    *pageCase
	Rows    []pageDifferentCell
	Reasons []pageNote
}

// pageDifferentCell is a request that did not come out the same on all runs.
type pageDifferentCell struct {
	Inbound, Request, Caller string
	Cells                    [][]pageCell
}
