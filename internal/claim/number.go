package claim

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// NumberText returns the one text of a number: its shortest form without an exponent, and without
// the sign of zero.
func NumberText(number float64) string {
	if number == 0 {
		return "0"
	}
	return strconv.FormatFloat(number, 'f', -1, 64)
}

// IsTold reports whether a policy can compare with a number. Between two such numbers there is one
// that a token of the lab can have (see [Numbers]), and one below and one above all of them.
func IsTold(number float64) bool {
	whole, fraction, _ := strings.Cut(NumberText(math.Abs(number)), ".")
	switch {
	case math.IsNaN(number), math.IsInf(number, 0):
		return false
	case fraction == "":
		return len(whole) <= 14
	default:
		return len(whole) <= 8 && len(fraction) <= 6
	}
}

// Numbers is a regular expression of the numbers that tokens of the lab have. None has more than
// 15 digits, so that a float of 64 bits tells each from the others.
const Numbers = `0|-?[1-9][0-9]{0,14}|-?[1-9][0-9]{0,13}\.[1-9]|-?(0|[1-9][0-9]{0,7})\.[0-9]{0,6}[1-9]`

// Interval returns the ends of a range of numbers. "[1,7)" has 1 and not 7, as
// envoy.type.v3.DoubleRange. "[-inf,7)" has no first number, and "[1,inf)" no last one.
func Interval(text string) (from, to float64, err error) {
	inner, opens := strings.CutPrefix(text, "[")
	inner, closes := strings.CutSuffix(inner, ")")
	low, high, both := strings.Cut(inner, ",")
	from, below := end(low, math.Inf(-1))
	to, above := end(high, math.Inf(1))
	if !opens || !closes || !both || !below || !above {
		return 0, 0, fmt.Errorf("%q is no range of numbers: write the first one and the end, such as [1,7), with at most 14 digits, or 8 and 6 behind the dot", text)
	}
	return from, to, nil
}

// end reads an end of a range, which may be open.
func end(text string, open float64) (float64, bool) {
	number, err := strconv.ParseFloat(text, 64)
	if err == nil && number == open {
		return number, text == endText(open)
	}
	return number, err == nil && IsTold(number) && NumberText(number) == text
}

// IntervalText returns the text of a range of numbers.
func IntervalText(from, to float64) string { return "[" + endText(from) + "," + endText(to) + ")" }

func endText(end float64) string {
	switch {
	case math.IsInf(end, -1):
		return "-inf"
	case math.IsInf(end, 1):
		return "inf"
	default:
		return NumberText(end)
	}
}

// InRange reports whether the text of a claim is a number of a range.
func InRange(text, interval string) bool {
	from, to, err := Interval(interval)
	number, wrong := strconv.ParseFloat(text, 64)
	return err == nil && wrong == nil && from <= number && number < to
}
