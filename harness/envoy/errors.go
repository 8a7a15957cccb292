package envoy

import (
	"errors"
	"strings"
)

// Reasons of an [Error], for errors.Is.
var (
	// ErrUnknownVersion: the version is none that is pinned, or not the one that the image or binary at hand turns out to be.
	ErrUnknownVersion = errors.New("unknown version")
	// ErrNoPip: python3 or its pip is missing.
	ErrNoPip = errors.New("python3 with pip is missing")
	// ErrDownload: the release could not be had.
	ErrDownload = errors.New("download failed")
	// ErrDigest: the release is not the pinned one.
	ErrDigest = errors.New("digest mismatch")
	// ErrNoDocker: no Docker daemon of this machine can be used.
	ErrNoDocker = errors.New("no usable Docker daemon")
	// ErrNoImage: no image of the version is present, can be pulled or built.
	ErrNoImage = errors.New("no image")
	// ErrStart: the process or the container could not be started.
	ErrStart = errors.New("cannot start")
	// ErrExited: Envoy ended though nobody closed it, for instance because it rejected its bootstrap.
	ErrExited = errors.New("Envoy ended")
)

// Error says that Envoy or the machine failed, as opposed to bad use of this package. It is always one line.
type Error struct {
	Doing  string // what was being done, and on what
	Reason error  // one of the Err variables
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

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
