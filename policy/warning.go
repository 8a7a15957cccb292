package policy

import "github.com/meshproof/meshproof/internal/warning"

// Warning is a lint finding: the policy is legal, but does something its author
// may not mean.
type Warning struct {
	// Kind names the kind of finding, which docs/lint.md describes.
	Kind warning.Kind
	// Place is file, line and field, as in an error.
	Place string
	// Policy is the origin of the policy the finding is about.
	Policy string
	// Message says what will happen and what to write instead.
	Message string
}

// String returns place, message and kind on one line.
func (w Warning) String() string {
	text := w.Message + " [" + string(w.Kind) + "]"
	if w.Place == "" {
		return text
	}
	return w.Place + ": " + text
}
