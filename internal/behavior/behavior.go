// Package behavior names what releases of Envoy do differently, and holds what one Envoy
// does.
//
// It guarantees that no release number is taken for a behaviour: fixes are ported back to
// older releases, and runtime guards revert them. Package probe asks the Envoy that runs.
package behavior

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Behavior is a question that releases of Envoy answer differently.
type Behavior uint8

const (
	// DotParameters is what the normalization of a path makes of the segment "..;x": a dot
	// segment since CVE-2026-73551 was fixed, a name before. The guard is
	// envoy.reloadable_features.strip_dotdot_segments_with_parameters.
	DotParameters Behavior = iota
	// HeaderLines is how a header matcher of RBAC rules reads several lines of one header:
	// each by itself since CVE-2026-26308 was fixed, joined before. The guard is
	// envoy.reloadable_features.rbac_match_headers_individually.
	HeaderLines
	// RegexBytes is how a regular expression reads a byte that is no UTF-8: as a character
	// since CVE-2026-73552 was fixed, as no character before, which no expression matches.
	// The guard is envoy.reloadable_features.re2_use_latin1_mode.
	RegexBytes
	// RouteLines is how a header matcher of a route reads several lines of one header: each by
	// itself since release 1.39, joined before. The guard is
	// envoy.reloadable_features.match_headers_individually.
	RouteLines
	// StreamDuration is what becomes of the header x-envoy-upstream-stream-duration-ms of a caller that is
	// external: it is dropped since release 1.40, and before that it replaces the maximum duration of the
	// stream. The guard is envoy.reloadable_features.sanitize_upstream_stream_duration_header.
	StreamDuration
	count
)

// StreamDurationHeader is the header of [StreamDuration]. A 0 lifts the bound, and what is no number changes
// nothing.
const StreamDurationHeader = "x-envoy-upstream-stream-duration-ms"

// All are all behaviours.
var All = [...]Behavior{DotParameters, HeaderLines, RegexBytes, RouteLines, StreamDuration}

// texts have the name of each behaviour, and the answers of a release with the fix and of
// a release without it.
var texts = [count]struct{ name, fixed, unfixed string }{
	DotParameters:  {"dotParameters", "resolved", "kept"},
	HeaderLines:    {"headerLines", "separate", "joined"},
	RegexBytes:     {"regexBytes", "latin1", "utf8"},
	RouteLines:     {"routeLines", "separate", "joined"},
	StreamDuration: {"streamDuration", "dropped", "followed"},
}

// String returns the name, as case files and reports write it.
func (b Behavior) String() string { return texts[b].name }

// Set is what one Envoy does. The zero value is an Envoy with all fixes. Sets can be
// compared.
type Set struct{ unfixed [count]bool }

// Fixed reports whether the Envoy has the fix.
func (s Set) Fixed(b Behavior) bool { return !s.unfixed[b] }

// Change returns the set with another answer.
func (s Set) Change(b Behavior, fixed bool) Set {
	s.unfixed[b] = !fixed
	return s
}

// Answer returns the answer of the Envoy, as case files and reports write it.
func (s Set) Answer(b Behavior) string {
	if s.Fixed(b) {
		return texts[b].fixed
	}
	return texts[b].unfixed
}

// Answers returns the answers by name.
func (s Set) Answers() map[string]string {
	out := map[string]string{}
	for _, b := range All {
		out[b.String()] = s.Answer(b)
	}
	return out
}

// MarshalJSON implements [json.Marshaler]. It writes the answers by name.
func (s Set) MarshalJSON() ([]byte, error) { return json.Marshal(s.Answers()) }

// Condition is a demand on an Envoy: one answer to one behaviour.
type Condition struct {
	Behavior Behavior
	Fixed    bool
}

// ParseCondition reads the name of a behaviour and an answer to it.
func ParseCondition(name, answer string) (Condition, error) {
	i := slices.IndexFunc(All[:], func(b Behavior) bool { return b.String() == name })
	if i < 0 {
		names := make([]string, len(All))
		for i, b := range All {
			names[i] = b.String()
		}
		return Condition{}, fmt.Errorf("unknown behaviour %q: use one of %s", name, strings.Join(names, ", "))
	}
	b := All[i]
	switch answer {
	case texts[b].fixed:
		return Condition{b, true}, nil
	case texts[b].unfixed:
		return Condition{b, false}, nil
	default:
		return Condition{}, fmt.Errorf("%q is no answer to %s: use %s or %s", answer, b, texts[b].fixed, texts[b].unfixed)
	}
}

// Holds reports whether an Envoy meets the condition.
func (c Condition) Holds(of Set) bool { return of.Fixed(c.Behavior) == c.Fixed }

// String returns text such as "dotParameters is resolved".
func (c Condition) String() string { return fmt.Sprintf("%s is %s", c.Behavior, c.Answer()) }

// Answer returns the answer of an Envoy that meets the condition.
func (c Condition) Answer() string { return Set{}.Change(c.Behavior, c.Fixed).Answer(c.Behavior) }
