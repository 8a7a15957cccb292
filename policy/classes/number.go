package classes

import (
	"math"
	"strings"

	"github.com/meshproof/meshproof/internal/automaton"
	"github.com/meshproof/meshproof/internal/claim"
)

// scalars are null, the truth values, and the numbers of tokens.
const scalars = `null|true|false|` + claim.Numbers

// numbersIn are the numbers of a range, and nil for a text that is none.
func numbersIn(interval string) *automaton.Language {
	from, to, err := claim.Interval(interval)
	if err != nil {
		return nil
	}
	var without []string
	switch {
	case math.IsInf(from, -1):
	case from > 0:
		without = append(without, `-.*`, magnitudes(from, true, false))
	case from == 0:
		without = append(without, `-.*`)
	default:
		without = append(without, `-(`+magnitudes(-from, false, false)+`)`)
	}
	switch {
	case math.IsInf(to, 1):
	case to > 0:
		without = append(without, magnitudes(to, false, true))
	case to == 0:
		without = append(without, `[0-9].*`)
	default:
		without = append(without, `[0-9].*`, `-(`+magnitudes(-to, true, true)+`)`)
	}
	return language(claim.Numbers, without...)
}

// magnitudes is a regular expression of numbers without a sign that are less than a number, or
// greater, and of the number itself, which is greater than zero. It is about numbers in their shortest
// form.
func magnitudes(number float64, less, equal bool) string {
	whole, fraction, _ := strings.Cut(claim.NumberText(number), ".")
	const anything = `[0-9]*(\.[0-9]+)?`
	var of []string
	// other adds the texts that have another digit at a place.
	other := func(text string, at int, behind string) {
		switch digit := text[at]; {
		case less && digit > '0':
			of = append(of, "[0-"+string(digit-1)+"]"+behind)
		case !less && digit < '9':
			of = append(of, "["+string(digit+1)+"-9]"+behind)
		default:
			return
		}
		of[len(of)-1] = strings.ReplaceAll(text[:at], ".", `\.`) + of[len(of)-1]
	}
	switch {
	case !less:
		of = append(of, `[1-9]`+strings.Repeat(`[0-9]`, len(whole))+anything)
	case len(whole) > 1:
		of = append(of, `[0-9]`+strings.Repeat(`[0-9]?`, len(whole)-2)+`(\.[0-9]+)?`)
	}
	for at := range whole {
		other(whole, at, strings.Repeat(`[0-9]`, len(whole)-at-1)+`(\.[0-9]+)?`)
	}
	text := whole + "." + fraction
	for at := len(whole) + 1; at < len(text); at++ {
		other(text, at, `[0-9]*`)
		if less {
			// A shorter fraction is less.
			of = append(of, escaped(text[:at]))
		}
	}
	if equal {
		of = append(of, escaped(text))
	}
	if !less {
		of = append(of, strings.ReplaceAll(text, ".", `\.`)+`[0-9]+`)
	}
	return strings.Join(of, "|")
}

// escaped is a regular expression of the beginning of a number.
func escaped(text string) string {
	return strings.ReplaceAll(strings.TrimSuffix(text, "."), ".", `\.`)
}
