package classes

import (
	"math"
	"regexp"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/internal/claim"
	"github.com/meshproof/meshproof/internal/property"
)

// TestNumbersIn holds the language of a range against the comparison of numbers.
func TestNumbersIn(t *testing.T) {
	t.Parallel()
	numbers := regexp.MustCompile(`^(?:` + claim.Numbers + `)$`)
	number := rapid.Custom(func(t *rapid.T) float64 {
		text := rapid.SampledFrom([]string{"", "-"}).Draw(t, "sign") + rapid.StringMatching(`0|[1-9]|[1-9][0-9]{0,3}|[1-9][0-9]{7}|[1-9][0-9]{12}`).Draw(t, "whole")
		if len(text) < 10 {
			text += rapid.StringMatching(`|\.[05]|\.[0-9]{1,3}|\.[0-9]{6}`).Draw(t, "fraction")
		}
		out, err := strconv.ParseFloat(text, 64)
		if err != nil || !claim.IsTold(out) {
			t.Fatalf("%s: %v", text, err)
		}
		return out
	})
	end := func(open float64) *rapid.Generator[float64] {
		return rapid.OneOf(number, number, number, rapid.Just(open))
	}
	property.Check(t, func(t *rapid.T) {
		from, to := end(math.Inf(-1)).Draw(t, "from"), end(math.Inf(1)).Draw(t, "to")
		interval := claim.IntervalText(from, to)
		language := numbersIn(interval)
		if language == nil {
			t.Fatalf("%s is no range", interval)
		}
		asked := rapid.SliceOfN(number, 1, 20).Draw(t, "numbers")
		for _, near := range []float64{from, to} {
			if !math.IsInf(near, 0) {
				asked = append(asked, near, -near, near+1, near-1, near+0.5, near/10, near*10)
			}
		}
		for _, n := range asked {
			text := claim.NumberText(n)
			if want := from <= n && n < to && numbers.MatchString(text); language.Matches(text) != want || numbers.MatchString(text) && claim.InRange(text, interval) != want {
				t.Fatalf("%s within %s: want %t", text, interval, want)
			}
		}
		for _, text := range []string{"", "true", "null", "x", "07", "7.0", "-0"} {
			if language.Matches(text) {
				t.Fatalf("%s is within %s", text, interval)
			}
		}
	})
}
