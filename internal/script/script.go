// Package script says what the application behind an inbound does with a request, and when.
//
// It guarantees that the zero value is what happens without a script: an echo at once. It has no
// clock and sends nothing: package upstream plays an [Answer].
package script

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Answer is what an upstream does with a request. The zero value echoes the body at once.
type Answer struct {
	// Reach says how far a connection to the upstream comes.
	Reach Reach
	// After is the time from the end of the request to the headers of the answer; on tcp from
	// the first byte to the first byte.
	After time.Duration
	// Parts is the number of parts of the body, with the time Every before each of them. Without
	// parts the body is the echo.
	Parts int
	Every time.Duration
	// End is how the answer ends. Without parts, an answer that does not end well has no headers.
	End End
}

// Reach says how far a connection to an upstream comes.
type Reach uint8

// How far a connection comes.
const (
	// Accepts takes the connection.
	Accepts Reach = iota
	// Refuses has no listener on the port: the connection is refused at once.
	Refuses
	// BlackHole never answers: neither a connection nor a refusal.
	BlackHole
)

// End is how an answer ends.
type End uint8

// The ends of an answer.
const (
	// Complete ends the answer as its protocol wants it.
	Complete End = iota
	// Stops sends nothing more, and keeps the connection.
	Stops
	// Closes closes the connection.
	Closes
)

// The words for answers of one word.
const (
	never     = "never"
	closes    = "close"
	refuses   = "refuse"
	blackHole = "black-hole"
	stops     = "stop"
)

var words = map[string]Answer{
	never:     {End: Stops},
	closes:    {End: Closes},
	refuses:   {Reach: Refuses},
	blackHole: {Reach: BlackHole},
}

// Named returns the answer of a word: never, close, refuse or black-hole.
func Named(word string) (Answer, error) {
	a, ok := words[word]
	if !ok {
		return Answer{}, fmt.Errorf("%q is no answer of the upstream: use never, close, refuse, black-hole, or a mapping such as {after: 100ms}", word)
	}
	return a, nil
}

// EndNamed returns the end of a word: stop or close.
func EndNamed(word string) (End, error) {
	switch word {
	case stops:
		return Stops, nil
	case closes:
		return Closes, nil
	}
	return Complete, fmt.Errorf("%q is no end of an answer: use stop or close", word)
}

// String returns the word of the end, which [EndNamed] reads; complete has none in a file.
func (e End) String() string {
	return [...]string{Complete: "complete", Stops: stops, Closes: closes}[e]
}

// Limits of a script. A lab that waits longer tells nothing more.
const (
	maxTime  = 10 * time.Second
	maxParts = 100
)

// Check refuses an answer that cannot be played.
func (a Answer) Check() error {
	switch {
	case a.Reach != Accepts && a != (Answer{Reach: a.Reach}):
		return errors.New("an upstream without a connection has no answer")
	case a.Parts < 0 || a.Parts > maxParts:
		return fmt.Errorf("%d parts are too many or too few: use 1 to %d", a.Parts, maxParts)
	case (a.Parts == 0) != (a.Every == 0):
		return errors.New("a body in parts has a number of parts and a time before each")
	case a.Parts == 0 && a.End != Complete && a.After != 0:
		return errors.New("an answer without headers comes never, and not after a time")
	}
	return checkTimes(a.After, a.Every, time.Duration(a.Parts)*a.Every)
}

func checkTimes(times ...time.Duration) error {
	for _, t := range times {
		if t < 0 || t > maxTime {
			return fmt.Errorf("%s is no time of a script: use 0 to %s", t, maxTime)
		}
	}
	return nil
}

// OfInbound returns how far connections to an inbound come that gives this answer to each. An
// answer to a request is an error.
func (a Answer) OfInbound() (Reach, error) {
	if a.Reach == Accepts {
		return Accepts, fmt.Errorf("%s answers a request: an inbound can be said to refuse, or to be a black-hole", a)
	}
	return a.Reach, nil
}

// HasHeaders reports whether the upstream sends the headers of an answer.
func (a Answer) HasHeaders() bool { return a.Reach == Accepts && (a.Parts > 0 || a.End == Complete) }

// String returns the text of the answer, as in "after 100ms, 3 parts every 50ms, then stop".
func (a Answer) String() string {
	for _, word := range []string{never, closes, refuses, blackHole} {
		if words[word] == a {
			return word
		}
	}
	var parts []string
	if a.After > 0 {
		parts = append(parts, "after "+a.After.String())
	}
	if a.Parts > 0 {
		parts = append(parts, fmt.Sprintf("%d parts every %s", a.Parts, a.Every))
	}
	if a.End != Complete {
		parts = append(parts, "then "+a.End.String())
	}
	if parts == nil {
		return "at once"
	}
	return strings.Join(parts, ", ")
}
