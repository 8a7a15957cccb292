package terminal

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTableLines(t *testing.T) {
	t.Parallel()
	table := Table{{"caller", "GET /"}, {Paint(true).Red("✗ deny"), "x"}, {"網", "y", "z"}, {"a"}}
	want := []string{"caller  GET /", "\x1b[31m✗ deny\x1b[0m  x", "網      y      z", "a"}
	if got := table.Lines(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	var got bytes.Buffer
	p := &Progress{out: &got, total: 4}
	for i, name := range []string{"two trust domains", "the caller's fault", "of another version", "a name that\nclears\x1b[2J"} {
		p.End(name, i == 1)
		fmt.Fprintln(&got)
	}
	p.Stop()
	p.Stop()
	want, err := os.ReadFile("testdata/progress.golden")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
