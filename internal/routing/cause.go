package routing

import (
	"fmt"
	"strings"
)

// Cause is why a request ended as it did. The zero value is an answer of the application.
type Cause uint8

// The causes that are no bound; [Bounded] gives the others.
const (
	// Answered means that the application answered.
	Answered Cause = iota
	// Denied means that the inbound refused the request.
	Denied
	// NoRoute means that no route took the request: 404.
	NoRoute
	// NoBackend means that the backend does not exist: 500.
	NoBackend
	// NoEndpoint means that the cluster has no healthy endpoint: 503.
	NoEndpoint
	// Refused means that no connection to the endpoint came about, before any bound.
	Refused
	// Broken means that the application ended the connection or the stream without a whole
	// answer.
	Broken
	// LeftByCaller means that the caller ended the connection first.
	LeftByCaller
	// Sentinel means that a bound beside those of the program took effect.
	Sentinel
	bounded
)

// Bounded is the cause of a request that a bound ended.
func Bounded(b Bound) Cause { return bounded + Cause(b) }

// Bound returns the bound that ended the request, and false for another cause.
func (c Cause) Bound() (Bound, bool) {
	if c < bounded {
		return 0, false
	}
	return Bound(c - bounded), true
}

var causes = [...]string{
	Answered: "answered", Denied: "denied", NoRoute: "noRoute", NoBackend: "noBackend", NoEndpoint: "noEndpoint", Refused: "refused",
	Broken: "broken", LeftByCaller: "leftByCaller", Sentinel: "sentinel",
}

// String returns the word for the cause that stands in case files: for a bound its name, such as
// "requestTimeout".
func (c Cause) String() string {
	if bound, ok := c.Bound(); ok {
		return bound.String()
	}
	return causes[c]
}

// UnmarshalText reads the word of a cause. An unknown word is an error that lists the known ones.
func (c *Cause) UnmarshalText(text []byte) error {
	var known []string
	for of := Answered; of < bounded+Cause(Bounds); of++ {
		if of.String() == string(text) {
			*c = of
			return nil
		}
		known = append(known, of.String())
	}
	return fmt.Errorf("cause %q is unknown: use one of %s", text, strings.Join(known, ", "))
}

// MarshalText returns the word of the cause.
func (c Cause) MarshalText() ([]byte, error) { return []byte(c.String()), nil }
