package result

import (
	"errors"
	"testing"

	"github.com/meshproof/meshproof/internal/verdict"
)

// Only a case whose requests were all decided as specified is in doubt and nothing else.
func TestOnlyDoubted(t *testing.T) {
	t.Parallel()
	doubt := errors.New("not verified: web/8080: a regular expression")
	examined := func(unread ...string) *Examination { return &Examination{Unread: unread} }
	for name, tt := range map[string]struct {
		c    Case
		want bool
	}{
		"a doubt":             {Case{Err: doubt, Doubts: 1, Examination: examined("a")}, true},
		"two doubts":          {Case{Err: errors.Join(doubt, doubt), Doubts: 2, Examination: examined("a", "b")}, true},
		"nothing wrong":       {Case{Examination: examined()}, false},
		"own compiler":        {Case{Err: doubt}, false},
		"a part not read":     {Case{Err: doubt, Examination: examined("a")}, false},
		"a part more":         {Case{Err: errors.Join(doubt, doubt), Doubts: 1, Examination: examined("a", "b")}, false},
		"another error":       {Case{Err: errors.Join(doubt, errors.New("refused")), Doubts: 1, Examination: examined("a")}, false},
		"a fault":             {Case{Err: doubt, Fault: true, Doubts: 1, Examination: examined("a")}, false},
		"a request was wrong": {Case{Err: doubt, Doubts: 1, Examination: examined("a"), Requests: []Request{{Judgement: verdict.Judgement{Problems: make([]verdict.Problem, 1)}}}}, false},
	} {
		if got := tt.c.OnlyDoubted(); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
