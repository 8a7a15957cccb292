package cases_test

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/golden"
	"github.com/meshproof/meshproof/policy/dialect"
)

// TestEmbeddedStories compares the embedded cases with the files: the same cases in the same
// order, at places that a user can open.
func TestEmbeddedStories(t *testing.T) {
	t.Parallel()
	embedded := casetest.Stories(t)
	onDisk, err := cases.Load("advisories", "cilium", "gateway", "istio", "kuma", "linkerd")
	if err != nil {
		t.Fatal(err)
	}
	describe := func(all []cases.Case, prefix string) (out []string) {
		for _, c := range all {
			out = append(out, prefix+c.Place+" "+c.Name)
		}
		return out
	}
	if diff := cmp.Diff(describe(onDisk, "cases/"), describe(embedded, "")); diff != "" {
		t.Errorf("(-disk +embedded):\n%s", diff)
	}
}

// TestStoryNames shows that the story of a case is the name of its file, so that run --case
// finds all cases of a file.
func TestStoryNames(t *testing.T) {
	t.Parallel()
	files := map[string]bool{}
	for _, c := range casetest.Stories(t) {
		file, _, _ := strings.Cut(c.Place, ":")
		files[file] = true
		if want := strings.TrimSuffix(path.Base(file), ".yaml"); c.Story != want {
			t.Errorf("%s: story %q, want %q", c.Place, c.Story, want)
		}
	}
	onDisk := 0
	for _, folder := range []string{"advisories", "cilium", "gateway", "istio", "kuma", "linkerd"} {
		entries, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		onDisk += len(entries)
	}
	if len(files) != onDisk {
		t.Errorf("%d files of %d hold a case", len(files), onDisk)
	}
}

// TestStoriesHaveBothDecisions shows that the cases of a file allow some requests and refuse
// others. When its dialect refuses the policies, no Envoy is asked.
func TestStoriesHaveBothDecisions(t *testing.T) {
	t.Parallel()
	allowed, refused := map[string]bool{}, map[string]bool{}
	for _, c := range casetest.Stories(t) {
		set, err := dialect.Parse(c.Policies, c.Options)
		for _, in := range c.Inbounds {
			if err == nil {
				err = set.Check(in.Inbound)
			}
		}
		// Routes and timeouts are refused by what reads them.
		if (err != nil) != (c.ExpectError != "") && !(err == nil && len(c.Routing) > 0) {
			t.Errorf("%s: policies: %v, want an error: %q", c.Place, err, c.ExpectError)
		}
		for _, q := range c.Requests {
			if q.Want == cases.Allow {
				allowed[c.Story] = true
			} else {
				refused[c.Story] = true
			}
		}
	}
	for _, c := range casetest.Stories(t) {
		if len(c.Requests) > 0 && !(allowed[c.Story] && refused[c.Story]) {
			t.Errorf("%s: a request of the file passes: %t, a request is refused: %t", c.Place, allowed[c.Story], refused[c.Story])
		}
	}
}

// TestUserStoriesHaveAShadow shows that each of the nine stories is tried in a shadow: one of its
// cases has a shadow that allows and a shadow that denies, states all four counters of an inbound
// and none of them as zero, and states by rule what the shadow denied.
func TestUserStoriesHaveAShadow(t *testing.T) {
	t.Parallel()
	proven := map[string]bool{}
	for _, c := range casetest.Stories(t) {
		shadows, four, byRule := map[cases.Shadow]bool{}, false, false
		for _, q := range c.Requests {
			if q.Shadow != nil && q.ShadowBy != nil && *q.ShadowBy != "default" {
				shadows[*q.Shadow] = true
			}
		}
		for _, of := range c.Counters {
			moves := func(n *uint64) bool { return n != nil && *n > 0 }
			four = four || of.Rule == "" && moves(of.Allowed) && moves(of.Denied) && moves(of.ShadowAllowed) && moves(of.ShadowDenied)
			byRule = byRule || of.Rule != "" && of.Rule != "default" && moves(of.ShadowDenied)
		}
		proven[c.Story] = proven[c.Story] || shadows[cases.ShadowAllow] && shadows[cases.ShadowDeny] && four && byRule
	}
	for _, story := range []string{
		"mesh-operator-1", "mesh-operator-2", "mesh-operator-3", "mesh-operator-4",
		"service-owner-1", "service-owner-2", "service-owner-3", "service-owner-4", "service-owner-5",
	} {
		if !proven[story] {
			t.Errorf("no case of %s tries it in a shadow and states all four counters and those of a rule", story)
		}
	}
}

// TestDeparturesHaveCases shows that each row of the departures in docs/policies.md names stories
// that there are.
func TestDeparturesHaveCases(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/policies.md")
	if err != nil {
		t.Fatal(err)
	}
	stories := map[string]bool{}
	for _, c := range casetest.Stories(t) {
		stories[c.Story] = true
	}
	_, table, _ := strings.Cut(string(text), "| the text says | meshproof | shown by |\n|---|---|---|\n")
	rows := 0
	for row := range strings.Lines(table) {
		if !strings.HasPrefix(row, "|") {
			break
		}
		rows++
		cells := strings.Split(strings.Trim(strings.TrimSpace(row), "| "), " | ")
		shown := cells[len(cells)-1]
		for _, name := range strings.Split(shown, ", ") {
			if !stories[strings.Trim(name, "`")] && !strings.HasPrefix(shown, "[") {
				t.Errorf("no case has the story %s: %s", name, row)
			}
		}
	}
	if rows < 15 {
		t.Errorf("the table has %d rows", rows)
	}
}

// TestREADMELists compares the list in README.md of this folder with the cases.
func TestREADMELists(t *testing.T) { golden.Section(t, "README.md", "covered", covered(t)) }

// covered returns the list: for each file, the first sentence of its first comment, and the
// numbers of its cases and requests.
func covered(t *testing.T) string {
	var b strings.Builder
	b.WriteString("| cases | what they prove | cases | requests |\n|---|---|--:|--:|\n")
	files, err := filepath.Glob("*/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	total, requests := 0, 0
	// The advisories have a page of their own, and one line here.
	advisories, advisoryRequests := 0, 0
	for _, file := range files {
		read, err := cases.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		count := 0
		for _, c := range read {
			count += len(c.Requests) + len(c.RoutedRequests)
		}
		if filepath.Dir(file) == "advisories" {
			advisories, advisoryRequests = advisories+len(read), advisoryRequests+count
			continue
		}
		fmt.Fprintf(&b, "| [%s](%s) | %s | %d | %d |\n", strings.TrimSuffix(filepath.Base(file), ".yaml"), filepath.ToSlash(file), opening(t, file), len(read), count)
		total += len(read)
		requests += count
	}
	fmt.Fprintf(&b, "| [advisories](../docs/advisories.md) | Released security advisories, a file each | %d | %d |\n", advisories, advisoryRequests)
	fmt.Fprintf(&b, "| | | **%d** | **%d** |\n", total+advisories, requests+advisoryRequests)
	return b.String()
}

// opening returns the first sentence of the comment at the top of the file.
func opening(t *testing.T, file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for line := range strings.Lines(string(text)) {
		comment, ok := strings.CutPrefix(line, "#")
		if !ok {
			break
		}
		words = append(words, strings.Fields(comment)...)
	}
	for i, word := range words {
		if strings.HasSuffix(word, ".") {
			words = words[:i+1]
			break
		}
	}
	if len(words) == 0 {
		t.Fatalf("%s: a comment at the top has to say what the cases are about", file)
	}
	return strings.TrimSuffix(strings.Join(words, " "), ".")
}
