package envoy

import "fmt"

// Runtime says how Envoy is run. As an encoding.TextUnmarshaler it can be the value of a command line flag.
type Runtime uint8

const (
	// Auto takes ENVOY_IMAGE as a container, else ENVOY_BIN as a process, else a container where a Docker daemon
	// answers and an image can be had, else a process.
	Auto Runtime = iota
	// Container runs Envoy in Docker.
	Container
	// Process runs Envoy as a child process.
	Process
)

var runtimeNames = [...]string{Auto: "auto", Container: "container", Process: "process"}

// String returns auto, container or process.
func (r Runtime) String() string {
	if int(r) < len(runtimeNames) {
		return runtimeNames[r]
	}
	return fmt.Sprintf("Runtime(%d)", uint8(r))
}

// ParseRuntime reads what String writes.
func ParseRuntime(s string) (Runtime, error) {
	for r, name := range runtimeNames {
		if s == name {
			return Runtime(r), nil
		}
	}
	return Auto, fmt.Errorf("envoy: runtime %q: want auto, container or process", s)
}

// MarshalText implements encoding.TextMarshaler.
func (r Runtime) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (r *Runtime) UnmarshalText(text []byte) (err error) {
	*r, err = ParseRuntime(string(text))
	return err
}
