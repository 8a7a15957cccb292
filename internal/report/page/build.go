package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/feature"
	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/terminal"
)

// fixedIDs are the IDs in the template.
var fixedIDs = []string{
	"main", "runs", "failed", "differs", "times", "matrix", "cases", "nuances", "filter", "only", "count", "bar", "open", "close",
	"matrix-title", "advisories", "advisories-title", "differs-title", "times-title", "cases-title",
}

func newView(runs []report.Run) *view {
	v := &view{Style: style, Script: script, Policy: contentPolicy}
	labels, ids := report.Labels(runs), idSet{}
	for i, label := range labels {
		labels[i] = report.Visible(label)
	}
	for _, id := range fixedIDs {
		ids[id] = true
	}
	v.runs(runs, labels)
	stories := collectStories(runs)
	about := countFeatures(stories)
	v.profiles(stories, about)
	for _, p := range v.Profiles {
		for _, s := range p.Stories {
			s.ID = ids.take(s.Name)
			for _, c := range s.Cases {
				c.ID = ids.take(c.Name)
				v.Total++
				c.fill(runs, labels, ids)
				v.note(c, runs, labels)
				v.time(c, labels)
			}
			s.count(labels, ids)
		}
	}
	v.advisories()
	v.times()
	v.head()
	v.verdict(runs)
	return v
}

// collectStories groups the cases of all runs by story and name, in the order where they
// first appear. Where a run has several cases of one name, the first one belongs to the first
// one of another run, and so on.
func collectStories(runs []report.Run) []*storyView {
	var stories []*storyView
	byName := map[string]*storyView{}
	byCase := map[string]*caseView{}
	for i, run := range runs {
		met := map[string]int{}
		for j := range run.Cases {
			c := &run.Cases[j]
			s := byName[c.Story]
			if s == nil {
				s = &storyView{Name: cmp.Or(c.Story, "no story")}
				byName[c.Story] = s
				stories = append(stories, s)
			}
			name := fmt.Sprintf("%q %q", c.Story, c.Case)
			met[name]++
			key := fmt.Sprintf("%s %d", name, met[name])
			shown := byCase[key]
			if shown == nil {
				shown = &caseView{Name: cmp.Or(c.Case, "no name"), Place: c.Place, runs: make([]*report.Case, len(runs))}
				for _, f := range c.Features {
					shown.Features = append(shown.Features, string(f))
				}
				byCase[key] = shown
				s.Cases = append(s.Cases, shown)
			}
			shown.runs[i] = c
		}
	}
	return stories
}

// profiles sorts the stories in the order of their features in the registry. The stories of
// a [lab] come last.
func (v *view) profiles(stories []*storyView, about featureCount) {
	order := feature.All()
	place := map[*storyView]int{}
	byProfile := map[feature.Profile][]*storyView{}
	for _, s := range stories {
		if lab, ok := findLab(s.Name); ok {
			s.Sentence = lab.sentence
			byProfile[lab.profile] = append(byProfile[lab.profile], s)
			continue
		}
		f, found := about.feature(s)
		place[s] = len(order)
		if found {
			place[s] = slices.IndexFunc(order, func(o feature.Feature) bool { return o.Name == f.Name })
			s.Sentence = f.About
		}
		p := about.profile(s)
		byProfile[p] = append(byProfile[p], s)
	}
	for _, p := range profileOrder() {
		if sorted := byProfile[p]; len(sorted) > 0 {
			slices.SortStableFunc(sorted, func(a, b *storyView) int { return cmp.Compare(place[a], place[b]) })
			v.Profiles = append(v.Profiles, profileView{Name: cmp.Or(string(p), "No profile"), Stories: sorted})
		}
	}
}

// count fills the row of the matrix.
func (s *storyView) count(labels []string, ids idSet) {
	for i, label := range labels {
		var t report.Tally
		var ms float64
		for _, c := range s.Cases {
			if r := c.runs[i]; r != nil {
				t.Add(*r)
				ms += r.Milliseconds
			}
		}
		cell := storyCell{ID: ids.take(s.ID + "_" + label), Run: label, Status: worstStatus(t), Label: t.String(), Time: report.Seconds(report.Took(ms))}
		switch cell.Status {
		case failed:
			cell.Text = fmt.Sprintf("%d of %d", t.Failed, t.Total())
		case absent:
			cell.Label, cell.Time = string(absent), ""
		default:
			cell.Text = terminal.Number(map[status]int{passed: t.Passed, skipped: t.Skipped, notApplicable: t.NotApplicable}[cell.Status])
		}
		cell.Rest = restText(t, cell.Status)
		if c := s.shows(i); c != nil {
			c.Results[i].ID = cell.ID
		} else {
			cell.NoCases = true
		}
		s.Cells = append(s.Cells, cell)
	}
}

// shows is the case that a cell of the matrix links to: the first that failed in the run,
// else the first with a truth table, else the first that the run has.
func (s *storyView) shows(run int) *caseView {
	var best *caseView
	rank := 0
	for _, c := range s.Cases {
		r, its := c.runs[run], 0
		switch {
		case r == nil:
		case r.Failed():
			its = 3
		case len(r.Requests) > 0:
			its = 2
		default:
			its = 1
		}
		if its > rank {
			best, rank = c, its
		}
	}
	return best
}

// restText has the counts of a cell that its sign does not stand for.
func restText(t report.Tally, s status) string {
	var parts []string
	if t.Skipped > 0 && s != skipped {
		parts = append(parts, skipped.Sign()+" "+terminal.Number(t.Skipped))
	}
	if t.NotApplicable > 0 && s != notApplicable {
		parts = append(parts, notApplicable.Sign()+" "+terminal.Number(t.NotApplicable))
	}
	return strings.Join(parts, " ")
}

// featureCount counts the cases that need each feature.
type featureCount map[feature.Name]int

func countFeatures(stories []*storyView) featureCount {
	about := featureCount{}
	for _, s := range stories {
		for _, c := range s.Cases {
			for _, name := range c.Features {
				about[feature.Name(name)]++
			}
		}
	}
	return about
}

// mostTies bounds the features that are most frequent in a story. With more of them, the story is
// about none.
const mostTies = 3

// feature finds the feature that a story is about. Most cases of the story need it; of
// several such features it is the feature that the fewest other cases need.
func (a featureCount) feature(s *storyView) (feature.Feature, bool) {
	own := countFeatures([]*storyView{s})
	most := 0
	for _, n := range own {
		most = max(most, n)
	}
	var best feature.Feature
	found, ties := false, 0
	for _, f := range feature.All() {
		if own[f.Name] == 0 || own[f.Name] < most {
			continue
		}
		ties++
		if !found || a[f.Name] < a[best.Name] {
			best, found = f, true
		}
	}
	return best, found && ties <= mostTies
}

// profile is the profile of the first registered feature of a story.
func (featureCount) profile(s *storyView) feature.Profile {
	for _, c := range s.Cases {
		for _, name := range c.Features {
			if f, ok := feature.Lookup(feature.Name(name)); ok {
				return f.Profile
			}
		}
	}
	return ""
}

// lab is a story of cases that a command made, and no case file. It belongs to no profile of
// the registry, for any features that the policies need.
type lab struct {
	// story is the name that the command gives, and profile the part of the matrix.
	story    string
	profile  feature.Profile
	sentence string
}

var labs = []lab{
	{"proof", "Proofs", "A request of each class that the policies tell apart, and those on its border."},
	{"diff", "Changes", "A request of each class that is decided otherwise than before, under the old policies and the new."},
	{"verify", "Sidecars", "The configuration of a live sidecar, held against the policies."},
}

// findLab finds the lab of a story.
func findLab(story string) (lab, bool) {
	i := slices.IndexFunc(labs, func(l lab) bool { return l.story == story })
	if i < 0 {
		return lab{}, false
	}
	return labs[i], true
}

// profileOrder are the parts of the matrix, in order.
func profileOrder() []feature.Profile {
	all := append(feature.Profiles(), "")
	for _, l := range labs {
		all = append(all, l.profile)
	}
	return all
}

// head sets the titles of the page and of its matrix: the results of one command have the
// name of the command, everything else is a conformance report.
func (v *view) head() {
	v.Title, v.Heading = "conformance", "User stories"
	if len(v.Profiles) != 1 || len(v.Profiles[0].Stories) != 1 {
		return
	}
	if lab, ok := findLab(v.Profiles[0].Stories[0].Name); ok {
		v.Title, v.Heading = lab.story, "Results"
	}
}
