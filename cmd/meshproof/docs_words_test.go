package main

import (
	"slices"
	"strings"
	"testing"
	"unicode"
)

// splitCommand splits a line as a shell does that knows single quotes only, and takes
// the comment off.
func splitCommand(line string) (words []string, comment string) {
	var word strings.Builder
	begun, quoted := false, false
	end := func() {
		if begun {
			words = append(words, word.String())
		}
		word.Reset()
		begun = false
	}
	for i, r := range line {
		switch {
		case r == '\'':
			begun, quoted = true, !quoted
		case quoted || !unicode.IsSpace(r) && (r != '#' || begun):
			begun = true
			word.WriteRune(r)
		case r == '#':
			return words, line[i+1:]
		default:
			end()
		}
	}
	end()
	return words, ""
}

func TestSplitCommand(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]command{
		"meshproof run a.yaml":                        {words: []string{"meshproof", "run", "a.yaml"}},
		"  run --compiler 'python3 a # b' ''  # says": {words: []string{"run", "--compiler", "python3 a # b", ""}},
		"run a#b  # exits with 1\n":                   {words: []string{"run", "a#b"}},
		"--x='a b'c\n":                                {words: []string{"--x=a bc"}},
		"# nothing":                                   {},
	} {
		if words, _ := splitCommand(line); !slices.Equal(words, want.words) {
			t.Errorf("%q: %q, want %q", line, words, want.words)
		}
	}
	if _, comment := splitCommand("run 'a # b' # exits with 1"); comment != " exits with 1" {
		t.Errorf("the comment is %q", comment)
	}
}
