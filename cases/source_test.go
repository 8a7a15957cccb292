package cases_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/cases"
)

// TestSource shows that the text of a case is its text in the file, without the text of its
// neighbours.
func TestSource(t *testing.T) {
	t.Parallel()
	const file = `# The file.

case: a
expectWarning: []
--- # about b
# and more about b
case: b
# within b
expectWarning: []
---
# a comment that is no document
---

{case: c, expectWarning: []}
--- {case: d, expectWarning: []}
---
`
	all, err := cases.Parse("f.yaml", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range all {
		got = append(got, c.Source)
	}
	want := []string{
		"# The file.\n\ncase: a\nexpectWarning: []\n",
		"# about b\n# and more about b\ncase: b\n# within b\nexpectWarning: []\n",
		"# a comment that is no document\n\n{case: c, expectWarning: []}\n",
		"{case: d, expectWarning: []}\n",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestSourceIsACase parses the text of each case: it is a case file with only that case.
func TestSourceIsACase(t *testing.T) {
	t.Parallel()
	all, err := cases.Stories()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		again, err := cases.Parse(c.Place, []byte(c.Source))
		if err != nil || len(again) != 1 || again[0].Name != c.Name || again[0].Source != c.Source {
			t.Errorf("%s: %v, %d cases from\n%s", c.Place, err, len(again), c.Source)
		}
	}
}
