package envoy

import (
	"errors"
	"strings"
)

// Reasons of a [pin.Error], for errors.Is. Package pin has those of getting a release.
var (
	// ErrNoDocker: no Docker daemon of this machine can be used.
	ErrNoDocker = errors.New("no usable Docker daemon")
	// ErrNoImage: no image of the version is present, can be pulled or can be built.
	ErrNoImage = errors.New("no image")
	// ErrStart: the process or the container could not be started.
	ErrStart = errors.New("cannot start")
	// ErrExited: Envoy ended before Close was called, for instance because it rejected its bootstrap.
	ErrExited = errors.New("Envoy ended")
)

// oneLine replaces line breaks and other runs of white space by one space.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
