package envoy

import (
	"fmt"
	"io"
	"time"
)

const (
	defaultProcessPorts   = 16
	defaultContainerPorts = 64
	maxContainerPorts     = 1024
	defaultDrainTime      = time.Second
)

// Options say which Envoy is wanted. The zero value is usable: [pin.DefaultVersion], Auto.
// Envoy always runs with one worker, so that what one worker serves is what Envoy serves.
type Options struct {
	// Version is a release such as 1.40.0; empty means pin.DefaultVersion, or whatever ENVOY_BIN or ENVOY_IMAGE is.
	Version string
	Runtime Runtime
	// Ports is the number of listener ports that are held ready: 0 means 16 for a process and 64 for a container.
	// A process gets more on demand.
	Ports int
	// Log, if set, receives Envoy's own log. It is written to by one goroutine, from Start until Done is closed.
	Log io.Writer
	// DrainTime is how long old filter chains serve their connections after an update (--drain-time-s, with
	// --drain-strategy immediate), in whole seconds, rounded up; 0 means one second.
	DrainTime time.Duration
}

func (o Options) check() error {
	if o.Ports < 0 || o.Ports > maxContainerPorts {
		return fmt.Errorf("envoy: options: Ports is %d: want 0 to %d", o.Ports, maxContainerPorts)
	}
	if o.DrainTime < 0 {
		return fmt.Errorf("envoy: options: DrainTime is %v: want no negative duration", o.DrainTime)
	}
	if int(o.Runtime) >= len(runtimeNames) {
		return fmt.Errorf("envoy: options: Runtime is %v: want Auto, Container or Process", o.Runtime)
	}
	return nil
}

// arguments is Envoy's command line, without the program.
func (o Options) arguments(bootstrap string) []string {
	drain := o.DrainTime
	if drain == 0 {
		drain = defaultDrainTime
	}
	seconds := (drain + time.Second - 1) / time.Second
	return []string{
		"-c", bootstrap,
		"--concurrency", "1",
		"--disable-hot-restart",
		"--drain-time-s", fmt.Sprint(int64(seconds)),
		"--drain-strategy", "immediate",
		"--file-flush-interval-msec", "50",
		"--log-level", "warning",
	}
}
