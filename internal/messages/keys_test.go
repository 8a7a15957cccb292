package messages

import (
	"fmt"
	"strings"
	"testing"
)

func TestKeysTwice(t *testing.T) {
	t.Parallel()
	var many []string
	for i := range 2 * fewKeys {
		many = append(many, fmt.Sprintf("%q: %d", fmt.Sprint("k", i), i))
	}
	wide := strings.Join(many, ", ")
	for text, twice := range map[string]bool{
		`{}`:                                   false,
		`[{"a": 1}, {"a": 2}]`:                 false,
		`{"a": {"a": ["a", "a", {"a": ":"}]}}`: false,
		`{"a": "a\":", "b": "\\"}`:             false,
		`{"a": 1, "b": 2, "a": 3}`:             true,
		`{"a": 1, "a"` + strings.Repeat(" ", 200) + "\n: 2}": true,
		`{"x": [{"a": {}, "a": []}]}`:                        true,
		`{"a": 1, "\u0061": 2}`:                              true,
		"{\"\xff\": 1, \"\xfe\": 2}":                         true,
		`{` + wide + `}`:                                     false,
		`{` + wide + `, "k3": 0}`:                            true,
	} {
		_, err := Parse([]byte(text))
		if got := err != nil && strings.Contains(err.Error(), "twice"); got != twice {
			t.Errorf("%s: %v, want twice %t", text, err, twice)
		}
	}
}
