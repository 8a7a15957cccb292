package behavior

import (
	"encoding/json"
	"testing"
)

// Each answer has a name, which a condition reads again.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for _, b := range All {
		for _, fixed := range []bool{true, false} {
			s := Set{}.Change(b, fixed)
			c, err := ParseCondition(b.String(), s.Answer(b))
			if err != nil || c != (Condition{b, fixed}) || !c.Holds(s) || c.Holds(s.Change(b, !fixed)) {
				t.Errorf("%s is %s: read as %v, %v", b, s.Answer(b), c, err)
			}
		}
	}
}

// An Envoy with all fixes is the zero value.
func TestJSON(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]Set{
		`{"dotParameters":"resolved","headerLines":"separate","regexBytes":"latin1","routeLines":"separate","streamDuration":"dropped"}`: {},
		`{"dotParameters":"kept","headerLines":"separate","regexBytes":"latin1","routeLines":"separate","streamDuration":"dropped"}`:     Set{}.Change(DotParameters, false),
		`{"dotParameters":"resolved","headerLines":"joined","regexBytes":"utf8","routeLines":"joined","streamDuration":"followed"}`:      Set{}.Change(HeaderLines, false).Change(RegexBytes, false).Change(RouteLines, false).Change(StreamDuration, false),
	} {
		if got, err := json.Marshal(s); err != nil || string(got) != want {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
	}
}

func TestParseConditionRefuses(t *testing.T) {
	t.Parallel()
	for want, c := range map[string][2]string{
		`unknown behaviour "dots": use one of dotParameters, headerLines, regexBytes, routeLines, streamDuration`: {"dots", "kept"},
		`"joined" is no answer to dotParameters: use resolved or kept`:                                            {"dotParameters", "joined"},
	} {
		if _, err := ParseCondition(c[0], c[1]); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", c, err, want)
		}
	}
}
