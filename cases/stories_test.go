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

// TestStoriesAreTheFilesOfThisFolder holds what is embedded against what lies on
// disk: the same cases in the same order, at places that a user can open.
func TestStoriesAreTheFilesOfThisFolder(t *testing.T) {
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

// TestStoriesGoByTheirFile: the story of a case is its file's name, so that
// run --case finds all of a file.
func TestStoriesGoByTheirFile(t *testing.T) {
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

// TestStoriesProveBothWays: where an Envoy is asked, somebody is let in and
// somebody is not; a refusal is the dialect's, before any Envoy is asked.
func TestStoriesProveBothWays(t *testing.T) {
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
		letIn := func(q cases.Request) bool { return q.Want == cases.Allow }
		n := len(slices.DeleteFunc(slices.Clone(c.Requests), letIn))
		if oneSided[c.Name] != (n == 0 || n == len(c.Requests)) {
			t.Errorf("%s: %d of %d requests are let in; one-sided: %t", c.Place, len(c.Requests)-n, len(c.Requests), oneSided[c.Name])
		}
	}
}

// oneSided are the cases whose counterpart is another one in their file.
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
