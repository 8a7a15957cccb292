package automaton

import "testing"

// TestManyLanguages asks for a text of many languages with two next states each: the ways to
// the same combination are more than can be gone.
func TestManyLanguages(t *testing.T) {
	t.Parallel()
	in := []*Language{Literal("", true, true, false)}
	for range 40 {
		in = append(in, Literal("aa", true, true, false))
	}
	if text, answer := new(Search).Shortest(in, nil); text != "aa" || answer != Found {
		t.Errorf("%q, %v", text, answer)
	}
}
