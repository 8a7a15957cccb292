package cases_test

import (
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/policy/dialect"
)

var stories = must(cases.Stories())

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// TestEmbeddedStories compares the embedded cases with the files: the same cases in the same
// order, at places that a user can open.
func TestEmbeddedStories(t *testing.T) {
	t.Parallel()
	embedded, err := cases.Stories()
	if err != nil {
		t.Fatal(err)
	}
	onDisk, err := cases.Load("gateway", "kuma")
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
	for _, c := range stories {
		file, _, _ := strings.Cut(c.Place, ":")
		files[file] = true
		if want := strings.TrimSuffix(path.Base(file), ".yaml"); c.Story != want {
			t.Errorf("%s: story %q, want %q", c.Place, c.Story, want)
		}
	}
	onDisk := 0
	for _, folder := range []string{"gateway", "kuma"} {
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

// TestStoriesHaveBothDecisions shows that a case allows some requests and refuses others. When
// its dialect refuses the policies, no Envoy is asked.
func TestStoriesHaveBothDecisions(t *testing.T) {
	t.Parallel()
	for _, c := range stories {
		set, err := dialect.Parse(c.Policies, c.Options)
		for _, in := range c.Inbounds {
			if err == nil {
				err = set.Check(in.Inbound)
			}
		}
		if (err != nil) != (c.ExpectError != "") {
			t.Errorf("%s: policies: %v, want an error: %q", c.Place, err, c.ExpectError)
		}
		if c.ExpectError != "" {
			continue
		}
		allowed := func(q cases.Request) bool { return q.Want == cases.Allow }
		n := len(slices.DeleteFunc(slices.Clone(c.Requests), allowed))
		if oneSided[c.Name] != (n == 0 || n == len(c.Requests)) {
			t.Errorf("%s: %d of %d requests are allowed; one-sided: %t", c.Place, len(c.Requests)-n, len(c.Requests), oneSided[c.Name])
		}
	}
}

// oneSided are the cases with one decision. Another case in their file has the other one.
var oneSided = map[string]bool{
	"without any policy nobody gets in, whatever the protocol":                            true,
	"the precise shadow hoists the shadow denies of all policies over the allows of all":  true,
	"a shadow by path tells which requests would be lost, and on tcp there is none":       true,
	"a list of no items lets nobody in":                                                   true,
	"a tcp inbound has no routes, and a route that is not there is reported":              true,
	"a route of another name is not the route":                                            true,
	"one AllowWithShadowDeny is enough for a shadow, even one that a later item hides":    true,
	"one DENY_WITH_SHADOW_ALLOW is enough for a shadow, even one that a later item hides": true,
}
