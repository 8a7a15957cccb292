package testbed

import (
	"strings"
	"testing"
)

// CheckOneLine checks the style of an error: one line with the prefix, and each of the texts in it.
func CheckOneLine(t testing.TB, prefix string, err error, texts ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	line := err.Error()
	if !strings.HasPrefix(line, prefix) || strings.Contains(line, "\n") {
		t.Errorf("error is %q, want one line with prefix %q", line, prefix)
	}
	for _, text := range texts {
		if !strings.Contains(line, text) {
			t.Errorf("error is %q, want %q in it", line, text)
		}
	}
}
