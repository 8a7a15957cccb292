package page

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/meshproof/meshproof/internal/report"
)

// attributes are facts about a run. The page shows a fact once where all runs agree, else in a
// column.
var attributes = []struct {
	name string
	of   func(report.Run) string
}{
	{"Compiler", func(r report.Run) string {
		text := strings.TrimSpace(r.Implementation.Project + " " + r.Implementation.Version)
		if o := r.Implementation.Organization; o != "" && o != r.Implementation.Project {
			text += " by " + o
		}
		return text
	}},
	{"Tested with", func(r report.Run) string { return strings.TrimSpace("meshproof " + r.Meshproof) }},
	{"Date", func(r report.Run) string { return r.Date.UTC().Format(time.DateOnly + " 15:04 MST") }},
	{"Runtime", func(r report.Run) string { return r.Runtime }},
	{"Profiles", func(r report.Run) string { return nameList(r.Profiles) }},
	{"Not claimed", func(r report.Run) string { return nameList(r.Unsupported) }},
	{"Shard", func(r report.Run) string { return r.Shard }},
	{"Request classes proven", func(r report.Run) string {
		if r.ClassesProven == nil {
			return ""
		}
		text := fmt.Sprintf("%s of %s", formatCount(r.ClassesProven.Proven), formatCount(r.ClassesProven.Of))
		if !r.ClassesProven.Complete {
			text += ", regular expressions sampled"
		}
		return text
	}},
	{"Seeded faults found", func(r report.Run) string {
		if r.MutationScore == nil {
			return ""
		}
		return fmt.Sprintf("%s of %s", formatCount(r.MutationScore.Killed), formatCount(r.MutationScore.Of))
	}},
}

func nameList[T ~string](names []T) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = string(n)
	}
	return strings.Join(out, ", ")
}

// runs fills the table of runs, and the facts that all runs have in common.
func (v *view) runs(runs []report.Run, labels []string) {
	for i, r := range runs {
		shown := runView{Label: labels[i], SHA256: r.EnvoySHA256, Tally: report.Count(r.Cases), Time: report.Seconds(report.Took(r.Milliseconds))}
		for _, c := range r.Cases {
			shown.Requests += len(c.Requests)
		}
		v.Runs = append(v.Runs, shown)
		v.Requests += shown.Requests
	}
	for _, a := range attributes {
		if report.Differ(runs, a.of) {
			v.Columns = append(v.Columns, a.name)
			for i, r := range runs {
				v.Runs[i].More = append(v.Runs[i].More, a.of(r))
			}
			continue
		}
		if text := a.of(runs[0]); text != "" {
			fact := fact{Name: a.name, Text: text}
			if a.name == "Compiler" {
				fact.Link = projectLink(runs)
			}
			v.Facts = append(v.Facts, fact)
		}
	}
}

// projectLink is the address of the implementation. It is empty unless it is an https address
// that all runs have.
func projectLink(runs []report.Run) string {
	address := func(r report.Run) string { return r.Implementation.URL }
	u, err := url.Parse(address(runs[0]))
	if err != nil || u.Scheme != "https" || report.Differ(runs, address) {
		return ""
	}
	return u.String()
}

// verdict sets the sentence with the result.
func (v *view) verdict(runs []report.Run) {
	var all report.Tally
	same, versions := true, map[string]bool{}
	for i, r := range v.Runs {
		all.Passed += r.Tally.Passed
		all.Failed += r.Tally.Failed
		all.Skipped += r.Tally.Skipped
		all.NotApplicable += r.Tally.NotApplicable
		same = same && r.Tally == v.Runs[0].Tally
		versions[runs[i].Envoy] = true
	}
	v.Result = worstStatus(all)
	where := fmt.Sprintf("on %d versions of Envoy", len(runs))
	switch {
	case len(runs) == 1:
		where = "on Envoy " + report.Visible(runs[0].Envoy)
	case len(versions) < len(runs):
		where = fmt.Sprintf("in %d runs", len(runs))
	}
	v.Verdict = fmt.Sprintf("%s %s: ", report.Plural(v.Total, "case"), where)
	switch {
	case same && len(runs) > 1:
		v.Verdict += v.Runs[0].Tally.String() + " on each"
	case same:
		v.Verdict += all.String()
	default:
		v.Verdict += all.String() + " of " + report.Plural(all.Of(), "result")
	}
	if classes := runs[0].ClassesProven; v.Title == "proof" && len(runs) == 1 && classes != nil {
		v.Verdict += fmt.Sprintf(", %s of %s request classes proven", formatCount(classes.Proven), formatCount(classes.Of))
	}
}
