package envoy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"time"

	"github.com/meshproof/meshproof/internal/pin"
)

// Plan is the choice of one version and one runtime. Its binary or image is present. It is immutable and holds no resources. It
// can be started again when the Envoy of the last start is closed.
type Plan struct {
	version      string // empty for an ENVOY_IMAGE without an asked version
	options      Options
	surroundings Surroundings
	dir          string // path of the run directory, which Start makes
	runner       runner
}

// runner is a runtime with everything it needs.
type runner interface {
	runtime() Runtime
	source() string   // the image or binary
	variable() string // the environment variable that names another
	start(ctx context.Context, p *Plan, bootstrap []byte) (*Envoy, error)
	digest(ctx context.Context, e *Envoy) (string, error)
}

// Prepare removes what killed runs left behind, and chooses version and runtime. It fetches the binary, or finds, pulls or builds
// the image. The servers that Envoy needs can then be bound before Envoy starts. Failures of the machine are of type *[pin.Error].
func Prepare(ctx context.Context, o Options) (*Plan, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	sweepDirs()
	bin, image := os.Getenv("ENVOY_BIN"), os.Getenv("ENVOY_IMAGE")
	switch {
	case o.Runtime == Process, o.Runtime == Auto && image == "" && bin != "":
		return prepareProcess(ctx, o, bin)
	case o.Runtime == Container, image != "":
		return prepareContainer(ctx, o, image, bin)
	}
	p, err := prepareContainer(ctx, o, image, bin)
	if err == nil || ctx.Err() != nil {
		return p, err
	}
	p, errProcess := prepareProcess(ctx, o, bin)
	if errProcess == nil || errors.Is(err, ErrNoDocker) || errors.Is(errProcess, pin.ErrUnknownVersion) {
		return p, errProcess
	}
	return nil, &pin.Error{Doing: "prepare Envoy as a process, for want of a container (" + oneLine(err.Error()) + ")", Reason: ErrStart, Cause: errProcess}
}

// String names the Envoy, as in "Envoy 1.40.0 as a process".
func (p *Plan) String() string {
	what := "Envoy " + p.version
	if p.version == "" {
		what = "Envoy of " + p.runner.source()
	}
	return what + " as a " + p.Runtime().String()
}

// Runtime is Container or Process.
func (p *Plan) Runtime() Runtime { return p.runner.runtime() }

// Surroundings has the addresses for the bootstrap.
func (p *Plan) Surroundings() Surroundings { return p.surroundings }

// Start runs Envoy on a bootstrap in JSON, and returns when the process or the container is started. It does not wait until Envoy
// is ready: if Envoy rejects the bootstrap, [Envoy.Done] is closed. ctx bounds the start only.
// The error is of type *[pin.Error].
func (p *Plan) Start(ctx context.Context, bootstrap []byte) (*Envoy, error) {
	return p.runner.start(ctx, p, bootstrap)
}

const (
	defaultProcessPorts   = 16
	defaultContainerPorts = 64
	maxContainerPorts     = 1024
	defaultDrainTime      = time.Second
)

// Options say which Envoy is wanted. The zero value stands for [pin.DefaultVersion] and Auto.
// Envoy always runs with one worker, so that all connections see the same configuration.
type Options struct {
	// Version is a release such as 1.40.0. If it is empty, the version of ENVOY_BIN or ENVOY_IMAGE runs, else pin.DefaultVersion.
	Version string
	Runtime Runtime
	// Ports is the number of listener ports: 0 means 16 for a process and 64 for a container. A process gets more on demand.
	Ports int
	// Log, if set, receives Envoy's log. One goroutine writes to it, until Done is closed.
	Log io.Writer
	// DrainTime is the time for which old filter chains serve their connections after an update (--drain-time-s, with
	// --drain-strategy immediate). It is rounded up to whole seconds; 0 stands for one second.
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

// arguments is the command line of Envoy, without the program.
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

// Runtime says how Envoy runs. It can be the value of a command line flag.
type Runtime uint8

const (
	// Auto takes ENVOY_IMAGE as a container, else ENVOY_BIN as a process, else a container if a Docker daemon answers
	// and has or gets an image, else a process.
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

// ParseRuntime reads a text of String.
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

// Surroundings describes the place of an Envoy for its bootstrap and for the servers that Envoy connects to.
type Surroundings struct {
	// HostName is the name or address under which Envoy reaches this Go process.
	HostName string
	// HostIsName tells that HostName is a name (for a STRICT_DNS cluster), not an IP address.
	HostIsName bool
	// BindAddress is the address for the servers of this Go process, so that Envoy reaches them at HostName.
	BindAddress string
	// ListenAddress is the address that Envoy's listeners must bind; see also [Slot.Listen].
	ListenAddress string
	// Admin is the address that Envoy's admin endpoint must bind: the absolute path of a UNIX socket in a private
	// directory that [Plan.Start] makes, or host:port on the loopback of a container.
	Admin string
	// AdminGate is the host:port where a listener must lead the client of [Envoy.SecureAdmin], and no other, to the admin
	// endpoint of a container. It is empty for a process.
	AdminGate string
}

// Slot is one port on which a listener can be reached.
type Slot struct {
	Listen netip.AddrPort // what Envoy's listener binds
	Dial   string         // host:port where callers in this process connect
}

var (
	loopback = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	anyAddr  = netip.IPv4Unspecified()
)
