package automaton_test

import (
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/automaton"
)

// TestRE2 holds the languages of regular expressions against answers of C++ RE2, which
// testdata/record.py recorded.
func TestRE2(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("testdata/re2.txt")
	if err != nil {
		t.Fatal(err)
	}
	head, rows, _ := strings.Cut(string(content), "\n")
	var all []string
	for _, word := range strings.Fields(head)[1:] {
		all = append(all, unhex(t, word))
	}
	encodings := map[string]automaton.Encoding{"utf8": automaton.UTF8, "latin1": automaton.Latin1}
	refused, asked := 0, 0
	for row := range strings.Lines(rows) {
		fields := strings.Split(strings.TrimSuffix(row, "\n"), "\t")
		if fields[2] == "refused" {
			continue
		}
		l, err := automaton.Regex(fields[1], encodings[fields[0]])
		if err != nil {
			refused++
			continue
		}
		matched := map[string]bool{}
		for _, word := range strings.Fields(fields[2]) {
			matched[unhex(t, word)] = true
		}
		for _, word := range all {
			asked++
			if got := l.Matches(word); got != matched[word] {
				t.Errorf("%s: %s matches %q: %t, want %t", fields[0], fields[1], word, got, matched[word])
			}
		}
	}
	if asked < 80000 || refused > 50 {
		t.Errorf("%d questions, %d expressions refused", asked, refused)
	}
}

func unhex(t *testing.T, word string) string {
	t.Helper()
	if word == "-" {
		return ""
	}
	text, err := hex.DecodeString(word)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
