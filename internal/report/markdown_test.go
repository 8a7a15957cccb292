package report

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func summary(t testing.TB, runs ...Run) string {
	t.Helper()
	var b bytes.Buffer
	if err := Markdown(&b, runs); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	golden(t, "markdown.md", []byte(summary(t, matrix()...)))
	golden(t, "markdown_one.md", []byte(summary(t, newRun("1.40.0", newCase("a prefix ends at a segment", "path", "2", allowed("/metrics"))))))
}

func TestMarkdownVerdict(t *testing.T) {
	t.Parallel()
	good := newCase("good", "s", "1", allowed("/"))
	bad := newCase("bad", "s", "2", leaked("/"))
	fault := newCase("fault", "s", "3").with(func(c *Case) { c.Passed, c.Error, c.Fault = false, "e", true })
	gone := newCase("gone", "s", "4").with(skipped("why", true))
	shard := newRun("1.40.0", good)
	shard.Shard = "2/5"
	many := make([]Run, 12)
	for i := range many {
		many[i] = newRun(fmt.Sprintf("1.%d.0", i+30), good)
	}
	for want, runs := range map[string][]Run{
		"**Nothing was proven**: no case was run.":                                                      nil,
		"\n**Nothing was proven**: no case was run.\n":                                                  {newRun("1.40.0", gone)},
		"**Passed** on Envoy 1.40.0: of 1 case with 1 request, 1 passed.\n":                             {newRun("1.40.0", good)},
		"**Failed** on Envoy 1.38.3 and 1.40.0: of 3 cases with 3 requests, 2 passed, 1 failed.\n":      {newRun("1.38.3", good), newRun("1.40.0", good, bad)},
		"1 passed, 1 failed. In 1 case Envoy or the machine failed, which proves nothing either way.\n": {newRun("1.40.0", good, fault)},
		"1 passed. Only a part of a run: 1.40.0.\n":                                                     {shard},
		"1.36.0, 1.37.0, 1.38.0, 1.39.0 and 2 more: of 12 cases with 12 requests, 12 passed.\n":         many,
	} {
		if got := summary(t, runs...); !strings.Contains(got, want) {
			t.Errorf("it lacks %q:\n%s", want, got)
		}
	}
}

func TestMarkdownLimits(t *testing.T) {
	t.Parallel()
	r := newRun("1.40.0")
	for i := range 25 {
		r.Add(newCase(fmt.Sprintf("case %02d", i), "s", "1", leaked("/1"), leaked("/2"), leaked("/3"), leaked("/4"), leaked("/5"), leaked("/6"), leaked("/7")).
			with(func(c *Case) { c.Milliseconds = 1990 + float64(i) }))
	}
	got := summary(t, r)
	if n := strings.Count(got, "**case "); n != mostFailures {
		t.Errorf("%d failures, want %d", n, mostFailures)
	}
	if n := strings.Count(got, "\n- and 2 more\n"); n != mostFailures {
		t.Errorf("%d failures with further problems, want %d", n, mostFailures)
	}
	if !strings.Contains(got, "\nand 5 more\n") {
		t.Error("the failures that are left out are not counted")
	}
	// Of those from 1990 to 2014 ms, fourteen took more than two seconds.
	_, slow, _ := strings.Cut(got, "### Slowest cases")
	if n := strings.Count(slow, "| **2.0 s** |"); n != 14 {
		t.Errorf("%d slow cases, want 14:\n%s", n, slow)
	}
}

// TestMarkdownHostile holds that no text becomes markup.
func TestMarkdownHostile(t *testing.T) {
	t.Parallel()
	bad := newCase(hostile, hostile, "1", leaked(hostile)).with(func(c *Case) { c.Error, c.Again, c.Milliseconds = hostile, "run ```` "+hostile, 5000 })
	text := summary(t, newRun("1.38.3 "+hostile, bad), newRun("1.40.0", bad.with(skipped(hostile, true)))) +
		Compare(newRun(hostile, bad), newRun("1.40.0", bad.with(skipped(hostile, true)))).Markdown()
	prose := regexp.MustCompile("(?s)`````\n.*?\n`````\n").ReplaceAllString(text, "")
	if prose == text {
		t.Errorf("the fence of a command is not longer than that in it:\n%s", text)
	}
	for _, markup := range []string{"<script", "</td", "[e]", "&amp;", "http://", "*d*", "\x00", "\x1b", "\u202e", "`c`", "\\|", "_g_"} {
		if strings.Contains(prose, markup) {
			t.Errorf("%q stands in it:\n%s", markup, prose)
		}
	}
	for table := range strings.SplitSeq(prose, "\n\n") {
		lines := strings.Split(strings.TrimSpace(table), "\n")
		for _, line := range lines {
			if strings.HasPrefix(line, "|") && strings.Count(line, "|") != strings.Count(lines[0], "|") {
				t.Errorf("the row has another number of cells than the header:\n%s\n%s", lines[0], line)
			}
		}
	}
}

// TestMarkdownIsBounded tries to write more than GitHub takes.
func TestMarkdownIsBounded(t *testing.T) {
	t.Parallel()
	const most = 1 << 20
	long := strings.Repeat("|", 2000)
	wide := newRun(long)
	for i := range 200 {
		name := fmt.Sprint(i, long)
		wide.Add(newCase(name, name, "1", leaked(long)).with(func(c *Case) { c.Milliseconds, c.Error, c.Again = 3000, long, long }))
	}
	high := newRun("1.40.0")
	for _, c := range wide.Cases {
		high.Add(c.with(skipped(long, true)))
	}
	var many []Run
	for i := range 150 {
		many = append(many, newRun(fmt.Sprint(i, long), newCase("a", "s", "1", leaked("/")).with(func(c *Case) { c.Milliseconds = 3000 })))
	}
	many[0].Cases[0].Requests[0].Outcome = "deny"
	for name, text := range map[string]string{
		"many cases": summary(t, wide, high), "many runs": summary(t, many...), "comparison": Compare(wide, high).Markdown(),
		"in one run only": Compare(wide, newRun("1.40.0")).Markdown(),
	} {
		if len(text) > most || !strings.Contains(text, " more\n") {
			t.Errorf("%s: %d bytes", name, len(text))
		}
	}
}

func TestEscapeKeepsTheText(t *testing.T) {
	t.Parallel()
	reference := regexp.MustCompile("&#([0-9]+);")
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("ab\\`*_[]<>#|~&$@;19 .:/wé"))).Draw(t, "text")
		back := reference.ReplaceAllStringFunc(escape(text), func(s string) string {
			var r rune
			fmt.Sscanf(s, "&#%d;", &r)
			return string(r)
		})
		if back != text && len(text) <= maxText {
			t.Errorf("%q became %q", text, back)
		}
	})
}
