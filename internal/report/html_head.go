package report

import (
	"fmt"
	"net/url"
	"strings"
	"time"
)

// pageAttributes are what is said of a run: once where all runs agree, else in a column.
var pageAttributes = []struct {
	name string
	of   func(Run) string
}{
	{"Compiler", func(r Run) string {
		text := strings.TrimSpace(r.Implementation.Project + " " + r.Implementation.Version)
		if o := r.Implementation.Organization; o != "" && o != r.Implementation.Project {
			text += " by " + o
		}
		return text
	}},
	{"Tested with", func(r Run) string { return strings.TrimSpace("meshproof " + r.Meshproof) }},
	{"Date", func(r Run) string { return r.Date.UTC().Format(time.DateOnly + " 15:04 MST") }},
	{"Runtime", func(r Run) string { return r.Runtime }},
	{"Profiles", func(r Run) string { return pageNames(r.Profiles) }},
	{"Not claimed", func(r Run) string { return pageNames(r.Unsupported) }},
	{"Shard", func(r Run) string { return r.Shard }},
	{"Request classes proven", func(r Run) string {
		if r.ClassesProven == nil {
			return ""
		}
		text := fmt.Sprintf("%s of %s", pageCount(r.ClassesProven.Proven), pageCount(r.ClassesProven.Of))
		if !r.ClassesProven.Complete {
			text += ", regular expressions sampled"
		}
		return text
	}},
	{"Seeded faults found", func(r Run) string {
		if r.MutationScore == nil {
			return ""
		}
		return fmt.Sprintf("%s of %s", pageCount(r.MutationScore.Killed), pageCount(r.MutationScore.Of))
	}},
}

func pageNames[T ~string](names []T) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = string(n)
	}
	return strings.Join(out, ", ")
}

// runs fills the table of runs, and the facts that hold for all of them.
func (v *pageView) runs(runs []Run, labels []string) {
	for i, r := range runs {
		shown := pageRun{Label: labels[i], SHA256: r.EnvoySHA256, Tally: tally(r.Cases), Time: seconds(took(r.Milliseconds))}
		for _, c := range r.Cases {
			shown.Requests += len(c.Requests)
		}
		v.Runs = append(v.Runs, shown)
		v.Requests += shown.Requests
	}
	for _, a := range pageAttributes {
		if differ(runs, a.of) {
			v.Columns = append(v.Columns, a.name)
			for i, r := range runs {
				v.Runs[i].More = append(v.Runs[i].More, a.of(r))
			}
			continue
		}
		if text := a.of(runs[0]); text != "" {
			fact := pageFact{Name: a.name, Text: text}
			if a.name == "Compiler" {
				fact.Link = pageLink(runs)
			}
			v.Facts = append(v.Facts, fact)
		}
	}
}

// pageLink is the address of the implementation, where it is one of the web and all
// runs have the same.
func pageLink(runs []Run) string {
	address := func(r Run) string { return r.Implementation.URL }
	u, err := url.Parse(address(runs[0]))
	if err != nil || u.Scheme != "https" || differ(runs, address) {
		return ""
	}
	return u.String()
}

// verdict says in a sentence how it went.
func (v *pageView) verdict(runs []Run) {
	var all Tally
	same, versions := true, map[string]bool{}
	for i, r := range v.Runs {
		all.Passed += r.Tally.Passed
		all.Failed += r.Tally.Failed
		all.Skipped += r.Tally.Skipped
		all.NotApplicable += r.Tally.NotApplicable
		same = same && r.Tally == v.Runs[0].Tally
		versions[runs[i].Envoy] = true
	}
	v.Result = pageSummary(all)
	where := fmt.Sprintf("on %d versions of Envoy", len(runs))
	switch {
	case len(runs) == 1:
		where = "on Envoy " + visible(runs[0].Envoy)
	case len(versions) < len(runs):
		where = fmt.Sprintf("in %d runs", len(runs))
	}
	v.Verdict = fmt.Sprintf("%s %s: ", count(v.Total, "case"), where)
	switch {
	case same && len(runs) > 1:
		v.Verdict += v.Runs[0].Tally.String() + " on each"
	case same:
		v.Verdict += all.String()
	default:
		v.Verdict += all.String() + " of " + count(all.Of(), "result")
	}
	if classes := runs[0].ClassesProven; v.Title == "proof" && len(runs) == 1 && classes != nil {
		v.Verdict += fmt.Sprintf(", %s of %s request classes proven", pageCount(classes.Proven), pageCount(classes.Of))
	}
}
