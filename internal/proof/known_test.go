package proof_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/behavior"
	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/proof"
)

// Meshproof expects what the built-in cases state, on an Envoy with all fixes and on one without any. A statement turned around is found.
func TestKnownAnswers(t *testing.T) {
	t.Parallel()
	all := casetest.Stories(t)
	known := proof.CheckKnownAnswers(all, "1.40.0", behavior.Set{})
	old := behavior.Set{}
	for _, b := range behavior.All {
		old = old.Change(b, false)
	}
	for _, wrong := range slices.Concat(known.Wrong, proof.CheckKnownAnswers(all, "1.36.4", old).Wrong) {
		t.Error(wrong)
	}
	if known.Cases < 200 || known.Answers < 2000 {
		t.Errorf("%d answers of %d cases", known.Answers, known.Cases)
	}
	var text strings.Builder
	report := proof.Report{Known: &known}
	report.WriteText(&text, false)
	page, err := os.ReadFile("../../docs/prove.md")
	if err != nil {
		t.Fatal(err)
	}
	// The numbers grow with each case, and the page leaves them out.
	number := regexp.MustCompile(`[0-9][0-9,]*|…`)
	if _, line, _ := strings.Cut(text.String(), "✓ rests on"); !strings.Contains(number.ReplaceAllString(string(page), "N"), number.ReplaceAllString(line, "N")) || line == "" {
		t.Errorf("docs/prove.md shows another line than\n%s", &text)
	}
	t.Logf("%s", &text)
	refused := 0
	for _, c := range all {
		if c.ExpectError == "" || !c.Gate.Admits("1.40.0", behavior.Set{}) {
			continue
		}
		accepted, otherwise := cases.Case{Name: c.Name, Place: c.Place, ExpectError: c.ExpectError}, c
		otherwise.ExpectError = "another reason"
		for _, other := range []cases.Case{accepted, otherwise} {
			if known := proof.CheckKnownAnswers([]cases.Case{other}, "1.40.0", behavior.Set{}); len(known.Wrong) != 1 {
				t.Errorf("%s: a refusal that is not made, or is made for another reason: %v", c.Place, known.Wrong)
			}
		}
		refused++
	}
	if refused < 250 {
		t.Errorf("%d refusals were turned around", refused)
	}
	turned := 0
	for _, c := range all {
		for i, q := range c.Requests {
			if q.Want != cases.Allow || !c.Gate.Admits("1.40.0", behavior.Set{}) {
				continue
			}
			other := c
			other.Requests = []cases.Request{c.Requests[i]}
			other.Requests[0].Want = cases.Deny
			if known := proof.CheckKnownAnswers([]cases.Case{other}, "1.40.0", behavior.Set{}); len(known.Wrong) != 1 {
				t.Errorf("%s: %v", q.Place, known.Wrong)
			}
			turned++
			break
		}
	}
	if turned < 100 {
		t.Errorf("%d answers were turned around", turned)
	}
}
