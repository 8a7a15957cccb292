package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/cases/feature"
)

// pageFixed are the IDs that the template itself gives.
var pageFixed = []string{
	"main", "runs", "failed", "differs", "times", "matrix", "cases", "nuances", "filter", "only", "count", "bar", "open", "close",
	"matrix-title", "differs-title", "times-title", "cases-title",
}

func newPageView(runs []Run) *pageView {
	v := &pageView{Style: pageStyle, Script: pageScript, Policy: pagePolicy}
	labels, ids := Labels(runs), pageIDs{}
	for i, label := range labels {
		labels[i] = visible(label)
	}
	for _, id := range pageFixed {
		ids[id] = true
	}
	v.runs(runs, labels)
	stories := pageStories(runs)
	about := newPageAbout(stories)
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
	v.times()
	v.head()
	v.verdict(runs)
	return v
}

// pageStories puts the cases of all runs together by story and name, in the order in
// which they first stand. Of several cases that share a name, the first goes with the first.
func pageStories(runs []Run) []*pageStory {
	var stories []*pageStory
	byName := map[string]*pageStory{}
	byCase := map[string]*pageCase{}
	for i, run := range runs {
		met := map[string]int{}
		for j := range run.Cases {
			c := &run.Cases[j]
			s := byName[c.Story]
			if s == nil {
				s = &pageStory{Name: orElse(c.Story, "no story")}
				byName[c.Story] = s
				stories = append(stories, s)
			}
			name := fmt.Sprintf("%q %q", c.Story, c.Case)
			met[name]++
			key := fmt.Sprintf("%s %d", name, met[name])
			shown := byCase[key]
			if shown == nil {
				shown = &pageCase{Name: orElse(c.Case, "no name"), Place: c.Place, runs: make([]*Case, len(runs))}
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

// profiles sorts stories as the registry sorts the features that they are about; those
// of a [pageLab] come last.
func (v *pageView) profiles(stories []*pageStory, about pageAbout) {
	order := feature.All()
	place := map[*pageStory]int{}
	byProfile := map[feature.Profile][]*pageStory{}
	for _, s := range stories {
		if lab, ok := pageLabOf(s.Name); ok {
			s.About = lab.about
			byProfile[lab.profile] = append(byProfile[lab.profile], s)
			continue
		}
		f, found := about.feature(s)
		place[s] = len(order)
		if found {
			place[s] = slices.IndexFunc(order, func(o feature.Feature) bool { return o.Name == f.Name })
			s.About = f.About
		}
		p := about.profile(s)
		byProfile[p] = append(byProfile[p], s)
	}
	for _, p := range pageProfiles() {
		if sorted := byProfile[p]; len(sorted) > 0 {
			slices.SortStableFunc(sorted, func(a, b *pageStory) int { return cmp.Compare(place[a], place[b]) })
			v.Profiles = append(v.Profiles, pageProfile{Name: orElse(string(p), "No profile"), Stories: sorted})
		}
	}
}

// count fills the row of the matrix.
func (s *pageStory) count(labels []string, ids pageIDs) {
	for i, label := range labels {
		var t Tally
		var ms float64
		for _, c := range s.Cases {
			if r := c.runs[i]; r != nil {
				t.add(*r)
				ms += r.Milliseconds
			}
		}
		cell := pageStoryCell{ID: ids.take(s.ID + "_" + label), Run: label, Status: pageSummary(t), Label: t.String(), Time: seconds(took(ms))}
		switch cell.Status {
		case pageFailed:
			cell.Text = fmt.Sprintf("%d of %d", t.Failed, t.Of())
		case pageAbsent:
			cell.Label, cell.Time = string(pageAbsent), ""
		default:
			cell.Text = pageCount(map[pageStatus]int{pagePassed: t.Passed, pageSkipped: t.Skipped, pageNotApplicable: t.NotApplicable}[cell.Status])
		}
		cell.Rest = pageRest(t, cell.Status)
		if c := s.shows(i); c != nil {
			c.Results[i].ID = cell.ID
		} else {
			cell.Bare = true
		}
		s.Cells = append(s.Cells, cell)
	}
}

// shows is the case that a cell of the matrix leads to: the first that failed on its
// run, else the first that has a truth table there, else the first that the run has.
func (s *pageStory) shows(run int) *pageCase {
	var best *pageCase
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

// pageRest is what a cell of the matrix counts beside what its sign is for.
func pageRest(t Tally, s pageStatus) string {
	var parts []string
	if t.Skipped > 0 && s != pageSkipped {
		parts = append(parts, pageSkipped.Sign()+" "+pageCount(t.Skipped))
	}
	if t.NotApplicable > 0 && s != pageNotApplicable {
		parts = append(parts, pageNotApplicable.Sign()+" "+pageCount(t.NotApplicable))
	}
	return strings.Join(parts, " ")
}

// pageAbout knows how many cases need each feature.
type pageAbout map[feature.Name]int

func newPageAbout(stories []*pageStory) pageAbout {
	about := pageAbout{}
	for _, s := range stories {
		for _, c := range s.Cases {
			for _, name := range c.Features {
				about[feature.Name(name)]++
			}
		}
	}
	return about
}

// pageVague is how many features may be as frequent in a story before it is about none of them.
const pageVague = 3

// feature finds what a story is about: the feature that most of its cases need, and of
// several the one that the fewest other cases need.
func (a pageAbout) feature(s *pageStory) (feature.Feature, bool) {
	own := newPageAbout([]*pageStory{s})
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
	return best, found && ties <= pageVague
}

// profile is that of the first feature of a story that is registered.
func (pageAbout) profile(s *pageStory) feature.Profile {
	for _, c := range s.Cases {
		for _, name := range c.Features {
			if f, ok := feature.Lookup(feature.Name(name)); ok {
				return f.Profile
			}
		}
	}
	return ""
}
