package terminal

import (
	"slices"
	"testing"
)

func TestTableLines(t *testing.T) {
	t.Parallel()
	table := Table{{"caller", "GET /"}, {Paint(true).Red("✗ deny"), "x"}, {"網", "y", "z"}, {"a"}}
	want := []string{"caller  GET /", "\x1b[31m✗ deny\x1b[0m  x", "網      y      z", "a"}
	if got := table.Lines(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
