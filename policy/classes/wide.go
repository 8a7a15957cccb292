package classes

import (
	"errors"
	"strings"
)

// wideSpace is a space of which every text is a value, see [Surface]. A path still begins
// with a slash.
type wideSpace struct {
	space
	ofPaths bool
}

// widened returns the space of an attribute on a surface. The client and the listener of the
// lab refuse methods, paths, hosts, lines of headers and server names that others may send or let pass.
func (r *row) widened(on Surface) space {
	s := r.space(on)
	if !on.AnyText {
		return s
	}
	switch s := s.(type) {
	case pathSpace:
		return wideSpace{s, true}
	case methodSpace, hostSpace:
		return wideSpace{s, false}
	case headerSpace:
		s.wide = true
		return s
	case sniSpace:
		s.wide = true
		return s
	}
	return s
}

func (s wideSpace) sound(value string) error {
	if s.ofPaths && !strings.HasPrefix(value, "/") {
		return errors.New("a path begins with /")
	}
	return nil
}

func (s wideSpace) complete(prefix string, n int) []string {
	return append(s.space.complete(prefix, n), s.value(prefix+unusual+filler(n)))
}

func (wideSpace) alphabet() string { return nameChars + " " }

// unusual is a character that few patterns have.
const unusual = "!"

// anyText is the language of all texts, as package automaton reads it.
const anyText = `(.|\n)*`

// fieldText is the language of the texts that HTTP lets through: a header has no end of a line and
// no NUL.
const fieldText = `[^\r\n\x00]*`

// sendable implements [sender].
func (s wideSpace) sendable() (natural, all string, without []string) {
	natural, _, _ = s.space.(sender).sendable()
	if s.ofPaths {
		// The query is no part of it.
		return natural, `/[^?\r\n\x00]*`, nil
	}
	return natural, fieldText, nil
}
