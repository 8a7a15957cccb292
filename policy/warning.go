package policy

// Warning is a lint finding: the policy is legal, but does something its author
// may not mean.
type Warning struct {
	// Place is file, line and field, as in an error.
	Place string
	// Policy is the origin of the policy the finding is about.
	Policy string
	// Message says what will happen and what to write instead.
	Message string
}

// String returns place and message on one line.
func (w Warning) String() string {
	if w.Place == "" {
		return w.Message
	}
	return w.Place + ": " + w.Message
}
