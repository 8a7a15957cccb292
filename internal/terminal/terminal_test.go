package terminal

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/internal/progress"
)

func TestTableLines(t *testing.T) {
	t.Parallel()
	table := Table{{"caller", "GET /"}, {Paint(true).Red("✗ deny"), "x"}, {"網", "y", "z"}, {"a"}}
	want := []string{"caller  GET /", "\x1b[31m✗ deny\x1b[0m  x", "網      y      z", "a"}
	if got := table.Lines(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A count is written in one way, with and without a noun.
func TestCount(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0 cases", 1: "1 case", 999: "999 cases", 1157: "1,157 cases", 27_000_000: "27,000,000 cases"} {
		if got := Count(n, "case"); got != want || n != 1 && Number(n)+" cases" != got {
			t.Errorf("Count(%d) = %s, want %s", n, got, want)
		}
	}
}

func TestNumber(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 13230: "13,230", 1234567: "1,234,567", -1000: "-1,000", -100: "-100"} {
		if got := Number(n); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
}

// On a terminal the line is replaced as cases end, and at each tick.
func TestProgressOnTerminal(t *testing.T) {
	t.Parallel()
	var got bytes.Buffer
	ticks := make(chan time.Time)
	p := newProgress(&got, true, 4, ticks, func() {})
	ctx := p.Count(t.Context())
	for i, name := range []string{"two trust domains", "the caller's fault", "of another version", "a name that\nclears\x1b[2J"} {
		p.End(name, i == 1)
	}
	progress.Expect(ctx, 3)
	progress.Ask(ctx)
	p.tick()
	p.Clear()
	p.Show("looking")
	p.Stop()
	p.Stop()
	want, err := os.ReadFile("testdata/progress.golden")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), strings.ReplaceAll(got.String(), eraseLine, "\n"+eraseLine)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Without a terminal there is a line at each tick, and nothing else.
func TestProgressElsewhere(t *testing.T) {
	t.Parallel()
	var got bytes.Buffer
	ticks, stopped := make(chan time.Time), 0
	p := newProgress(&got, false, 2, ticks, func() { stopped++ })
	ctx := p.Count(t.Context())
	progress.Expect(ctx, 900)
	p.tick()
	progress.Do(ctx, "fetching Envoy")
	p.tick()
	progress.Do(ctx, "")
	progress.Ask(ctx)
	p.tick()
	p.End("the first", true)
	p.Clear()
	p.tick()
	for range 900 {
		progress.Ask(ctx)
	}
	ticks <- time.Time{}
	// It waits for the tick.
	p.Stop()
	p.Stop()
	const want = "meshproof: starting Envoy\nmeshproof: fetching Envoy\nmeshproof: asking Envoy, 1 of 900 requests\n" +
		"meshproof: 1 of 2 cases, 1 failed (the first), 1 of 900 requests: the first\nmeshproof: 1 of 2 cases, 1 failed (the first), 901 requests: the first\n"
	if got.String() != want || stopped != 1 {
		t.Errorf("%q, want %q; stopped %d times", got.String(), want, stopped)
	}
}
