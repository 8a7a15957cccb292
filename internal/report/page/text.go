package page

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/report"
)

// idSet has the IDs that the page uses.
type idSet map[string]bool

// take makes a new ID of a text. Everything but letters and digits becomes a hyphen, so that
// the ID is the same in a link.
func (ids idSet) take(text string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(text) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '.', r == '_':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	base := strings.Trim(b.String(), "-")
	if base == "" {
		base = "unnamed"
	}
	id := base
	for n := 2; ids[id]; n++ {
		id = fmt.Sprintf("%s-%d", base, n)
	}
	ids[id] = true
	return id
}

// presentCases returns the cases that are not nil.
func presentCases(runs []*report.Case) []*report.Case {
	return slices.DeleteFunc(slices.Clone(runs), func(c *report.Case) bool { return c == nil })
}

// visibleLines keeps the line breaks of a text, and escapes other invisible characters.
func visibleLines(text string) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range lines {
		lines[i] = report.Visible(line)
	}
	return strings.Join(lines, "\n")
}

// runNames names some runs. It is "" if they are all runs that have the case.
func runNames(some []int, runs []*report.Case, labels []string) string {
	if len(some) == len(presentCases(runs)) {
		return ""
	}
	return joinLabels(some, labels)
}

// sameText says that runs have the same evidence.
func sameText(some []int, labels []string) string {
	switch {
	case len(labels) == 1:
		return "Seen"
	case len(some) == 1:
		return "Seen on " + joinLabels(some, labels)
	default:
		return "Same on " + joinLabels(some, labels)
	}
}

// joinLabels lists the labels of some runs for a sentence.
func joinLabels(some []int, labels []string) string {
	names := make([]string, len(some))
	for i, run := range some {
		names[i] = labels[run]
	}
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// collectNotes collects the texts of a case in all runs, each once, with the runs that have
// it. Texts that differ only in the version of Envoy count as one.
func collectNotes(kind string, runs []report.Run, labels []string, cases []*report.Case, texts func(*report.Case) []string) []note {
	type found struct {
		note note
		runs []int
	}
	var all []*found
	at := map[string]*found{}
	for i, c := range cases {
		if c == nil {
			continue
		}
		for _, text := range texts(c) {
			key := withoutVersion(text, runs[i].Envoy)
			f := at[key]
			if f == nil {
				f = &found{note: note{Kind: kind, Text: text}}
				at[key], all = f, append(all, f)
			}
			if f.note.Text != text {
				f.note.Text = key
			}
			if !slices.Contains(f.runs, i) {
				f.runs = append(f.runs, i)
			}
		}
	}
	var out []note
	for _, f := range all {
		f.note.RunNames = runNames(f.runs, cases, labels)
		out = append(out, f.note)
	}
	return out
}

// withoutVersion replaces the version of Envoy in a text.
func withoutVersion(text, version string) string {
	if version == "" {
		return text
	}
	return strings.ReplaceAll(text, "Envoy "+version, "this Envoy")
}

// textList is a list of the text, nil for "" or if the text is not due.
func textList(text string, due bool) []string {
	if text == "" || !due {
		return nil
	}
	return []string{text}
}

// againCommands returns the commands that repeat a case. Commands that differ in the version
// of Envoy only become one, because --envoy takes several versions.
func againCommands(runs []report.Run, cases []*report.Case) []string {
	const flag = "--envoy "
	var out []string
	at := map[string]int{}
	for i, c := range cases {
		if c == nil || c.Again == "" {
			continue
		}
		before, after, found := strings.Cut(c.Again, flag+runs[i].Envoy)
		if !found {
			before, after = c.Again, ""
		}
		key := fmt.Sprintf("%q %q %t", before, after, found)
		if n, known := at[key]; !known {
			at[key], out = len(out), append(out, c.Again)
		} else if found {
			versions, _, _ := strings.Cut(out[n][len(before)+len(flag):], " ")
			if !slices.Contains(strings.Split(versions, ","), runs[i].Envoy) {
				out[n] = before + flag + versions + "," + runs[i].Envoy + after
			}
		}
	}
	return out
}
