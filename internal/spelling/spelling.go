// Package spelling compares words, to guess which known word a misspelt one means.
//
// It guarantees that the guess is one of the known words, and that it does not depend on
// their order where one of them is closer than all others. It knows nothing of what the
// words mean.
package spelling

import (
	"slices"
	"strings"
)

// Distance is the number of edits that make b of a. An edit inserts, deletes or replaces a
// byte, or exchanges two neighbours.
func Distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for k := range row {
		last[k] = k
	}
	for i := range len(a) {
		row[0] = i + 1
		for k := range len(b) {
			cost := 1
			if a[i] == b[k] {
				cost = 0
			}
			row[k+1] = min(last[k+1]+1, row[k]+1, last[k]+cost)
			if i > 0 && k > 0 && a[i] == b[k-1] && a[i-1] == b[k] {
				row[k+1] = min(row[k+1], before[k-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

// longest bounds the words that are compared. A misspelt name is short.
const longest = 100

// Guess returns the known word that a word may mean, see [Closest], or else all that begin
// with the word.
func Guess(word string, known []string) []string {
	if closest, ok := Closest(word, known); ok {
		return []string{closest}
	}
	if len(word) < 3 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(known), func(k string) bool { return !strings.HasPrefix(strings.ToLower(k), strings.ToLower(word)) })
}

// Closest returns the closest of the known words that differ by one edit, or by one in four
// letters. Capitals do not count.
func Closest(word string, known []string) (closest string, ok bool) {
	if len(word) > longest {
		return "", false
	}
	least := longest
	for _, k := range known {
		if len(k) > longest {
			continue
		}
		d := Distance(strings.ToLower(word), strings.ToLower(k))
		if d < least && d <= max(1, max(len(word), len(k))/4) && d < len(k) {
			closest, least = k, d
		}
	}
	return closest, closest != ""
}
