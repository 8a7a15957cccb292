package script

import (
	"testing"
	"time"
)

const ms = time.Millisecond

func TestAnswer(t *testing.T) {
	t.Parallel()
	for text, tt := range map[string]struct {
		answer  Answer
		headers bool
	}{
		"at once":                        {Answer{}, true},
		"never":                          {Answer{End: Stops}, false},
		"close":                          {Answer{End: Closes}, false},
		"refuse":                         {Answer{Reach: Refuses}, false},
		"black-hole":                     {Answer{Reach: BlackHole}, false},
		"after 100ms":                    {Answer{After: 100 * ms}, true},
		"after 1ms, 3 parts every 50ms":  {Answer{After: ms, Parts: 3, Every: 50 * ms}, true},
		"3 parts every 50ms, then stop":  {Answer{Parts: 3, Every: 50 * ms, End: Stops}, true},
		"3 parts every 50ms, then close": {Answer{Parts: 3, Every: 50 * ms, End: Closes}, true},
	} {
		if got := tt.answer.String(); got != text {
			t.Errorf("got %q, want %q", got, text)
		}
		if err := tt.answer.Check(); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if got := tt.answer.HasHeaders(); got != tt.headers {
			t.Errorf("%s: has headers: %t", text, got)
		}
	}
}

func TestCheckRefuses(t *testing.T) {
	t.Parallel()
	for name, a := range map[string]Answer{
		"a refused connection that answers": {Reach: Refuses, After: ms},
		"parts without a time":              {Parts: 2},
		"a time without parts":              {Every: ms},
		"too many parts":                    {Parts: 101, Every: ms},
		"negative parts":                    {Parts: -1, Every: ms},
		"never after a time":                {After: ms, End: Stops},
		"a negative time":                   {After: -ms},
		"a long time":                       {After: time.Minute},
		"long parts":                        {Parts: 100, Every: time.Second},
	} {
		if a.Check() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestNamed(t *testing.T) {
	t.Parallel()
	for word := range words {
		if a, err := Named(word); err != nil || a.String() != word {
			t.Errorf("%s: %v, %v", word, a, err)
		}
	}
	if _, err := Named("maybe"); err == nil {
		t.Error("no error")
	}
	for word, want := range map[string]End{"stop": Stops, "close": Closes} {
		if end, err := EndNamed(word); err != nil || end != want {
			t.Errorf("%s: %v, %v", word, end, err)
		}
	}
	if _, err := EndNamed("maybe"); err == nil {
		t.Error("no error")
	}
}
