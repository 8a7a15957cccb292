// Package casetest gives tests their cases. It guarantees that a test without its cases fails
// at once. Only tests import it.
package casetest

import (
	"testing"

	"github.com/meshproof/meshproof/cases"
)

// Stories returns the built-in cases. A test may change the list, but not what a case refers to.
func Stories(t testing.TB) []cases.Case {
	t.Helper()
	all, err := cases.Stories()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Parse reads the one case of a text. The places of the case are in "test.yaml".
func Parse(t testing.TB, text string) cases.Case {
	t.Helper()
	all, err := cases.Parse("test.yaml", []byte(text))
	if err != nil || len(all) != 1 {
		t.Fatalf("%d cases, want one: %v\n%s", len(all), err, text)
	}
	return all[0]
}
