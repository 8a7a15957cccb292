package routeverdict

import (
	"testing"
	"time"

	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/internal/passage"
	"github.com/meshproof/meshproof/internal/routing"
)

// A kept connection that outlives its bound is asked for again; all else is judged as it is.
func TestKeptTooLong(t *testing.T) {
	t.Parallel()
	idle := routing.Bounded(routing.Idle)
	for name, c := range map[string]struct {
		expected, found routing.Cause
		keep            time.Duration
		want            bool
	}{
		"it outlives the bound":       {idle, routing.Answered, time.Second, true},
		"it ends by the bound":        {idle, idle, time.Second, false},
		"it ends by another bound":    {idle, routing.Bounded(routing.MaxConnection), time.Second, false},
		"no bound should end it":      {routing.Answered, routing.Answered, time.Second, false},
		"the connection is not kept":  {idle, routing.Answered, 0, false},
		"a policy refuses the caller": {idle, routing.Denied, time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := Judgement{Outcome: Outcome{Cause: c.expected}, Finding: passage.Finding{Cause: c.found}}
			var p casefile.Passage
			p.Sends.Keep = c.keep
			if got := j.isKept(p); got != c.want {
				t.Errorf("got %t", got)
			}
		})
	}
}
