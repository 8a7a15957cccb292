package classes

import (
	"errors"
	"strings"
)

// wideSpace is a space of which every text is a value, see [Surface]. A path still begins
// with a slash.
type wideSpace struct{ space }

// widened returns the space of an attribute on a surface.
func (r *row) widened(on Surface) space {
	if on.AnyText {
		return wideSpace{r.space(on)}
	}
	return r.space(on)
}

func (s wideSpace) sound(value string) error {
	if _, ofPaths := s.space.(pathSpace); ofPaths && !strings.HasPrefix(value, "/") {
		return errors.New("a path begins with /")
	}
	return nil
}

func (s wideSpace) complete(prefix string, n int) []string {
	return append(s.space.complete(prefix, n), s.value(prefix+unusual+filler(n)))
}

func (wideSpace) alphabet() string { return nameChars + "\\\"<>^`{|} " }

// unusual is a character that few patterns have.
const unusual = "!"

// anyText is the language of all texts, as package automaton reads it.
const anyText = `(.|\n)*`

// sendable implements [sender].
func (s wideSpace) sendable() (natural, all string, without []string) {
	natural, all = `[!-~]*`, anyText
	if in, ok := s.space.(sender); ok {
		natural, _, _ = in.sendable()
	}
	if _, ofPaths := s.space.(pathSpace); ofPaths {
		all = "/" + anyText
	}
	return natural, all, nil
}
