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

// TestLimit reads the limit of the environment.
func TestLimit(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"": defaultLimit, "20000": 20000, "100000": 100000} {
		if got, err := parseLimit(text); got != want || err != nil {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"0", "19999", "-1", "1e6", "20 000", "10000001", "99999999999999999999"} {
		if _, err := parseLimit(text); err == nil {
			t.Errorf("%q is a limit", text)
		}
	}
}
