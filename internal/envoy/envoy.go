package envoy

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/meshproof/meshproof/internal/children"
	"github.com/meshproof/meshproof/internal/pin"
)

// terminationGrace is how long Envoy may take over SIGTERM before it is killed; it needs 10 ms as a rule.
const terminationGrace = 3 * time.Second

// Envoy is a started Envoy. Its methods may be called from any goroutine.
type Envoy struct {
	plan      *Plan
	pid       int
	container string
	admin     *admin
	ports     ports
	kill      func()       // ends Envoy at once
	stop      func() error // ends Envoy and waits until done is closed
	release   func() error // gives back everything else

	done    chan struct{}
	mu      sync.Mutex
	closing bool
	err     error

	closed   sync.Once
	closeErr error
}

// ports hands out slots.
type ports interface {
	slot(i int) Slot
	len() int
}

// Runtime returns the runtime of the plan.
func (e *Envoy) Runtime() Runtime { return e.plan.Runtime() }

// PID is the process ID, or 0 for a container.
func (e *Envoy) PID() int { return e.pid }

// ContainerID is Docker's ID of the container, or empty for a process.
func (e *Envoy) ContainerID() string { return e.container }

// Slots is the number of slots that are ready.
func (e *Envoy) Slots() int { return e.ports.len() }

// Slot returns the i-th slot, from 0, the same one each time. A process makes more slots than Slots on demand. A container
// cannot, because its ports are fixed at its start: then, and if there are too many open files, it returns the zero Slot.
func (e *Envoy) Slot(i int) Slot {
	if i < 0 {
		return Slot{}
	}
	return e.ports.slot(i)
}

// Done is closed when Envoy has ended, after Close or by itself.
func (e *Envoy) Done() <-chan struct{} { return e.done }

// Err tells why Envoy ended by itself: a *[pin.Error] with reason ErrExited and the most important line of Envoy's log. It is
// nil while Envoy runs, and after Close.
func (e *Envoy) Err() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.err
}

// Close ends Envoy and removes everything that belongs to it. After three seconds it kills Envoy. Further calls return the
// result of the first one.
func (e *Envoy) Close() error {
	e.closed.Do(func() {
		e.mu.Lock()
		e.closing = true
		e.mu.Unlock()
		e.admin.CloseIdleConnections()
		e.closeErr = errors.Join(e.stop(), e.release())
	})
	return e.closeErr
}

// ended records the end of Envoy. how is its exit status, and log has the last lines of its log.
func (e *Envoy) ended(how error, log *children.Tail) {
	e.mu.Lock()
	if !e.closing && e.err == nil {
		line := telling(log.Lines())
		if line == "" {
			line = "it logged no error"
		}
		e.err = &pin.Error{
			Doing:  "run " + e.plan.String(),
			Reason: ErrExited, Cause: fmt.Errorf("%w: %s", how, line),
		}
	}
	e.mu.Unlock()
	close(e.done)
}

// Answers asks whether the admin endpoint answers within a time.
func (e *Envoy) Answers(ctx context.Context, within time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	_, err := e.AdminGet(ctx, "/server_info")
	return err == nil
}

// Kill ends an Envoy that does not answer any more. Err then has the reason ErrExited and the
// cause.
func (e *Envoy) Kill(cause error) {
	e.mu.Lock()
	if !e.closing && e.err == nil {
		e.err = &pin.Error{Doing: "run " + e.plan.String(), Reason: ErrExited, Cause: cause}
	}
	e.mu.Unlock()
	e.kill()
}

// dialer connects to the admin endpoint.
type dialer func(context.Context) (net.Conn, error)

func dialUNIX(path string) dialer {
	return func(ctx context.Context) (net.Conn, error) { return new(net.Dialer).DialContext(ctx, "unix", path) }
}

func dialTCP(address string) dialer {
	return func(ctx context.Context) (net.Conn, error) { return new(net.Dialer).DialContext(ctx, "tcp", address) }
}

// admin is a client of Envoy's admin endpoint.
type admin struct {
	http.Client
	dial dialer
	// secure runs a TLS handshake where the endpoint stands behind a gate.
	secure atomic.Pointer[tls.Config]
}

// newAdmin returns a client that ignores the host of the URL.
func newAdmin(dial dialer) *admin {
	a := &admin{dial: dial}
	a.Transport = &http.Transport{
		DialContext:        func(ctx context.Context, _, _ string) (net.Conn, error) { return a.connect(ctx) },
		DisableCompression: true,
	}
	return a
}

// connect waits for the gate, which opens some milliseconds after Envoy has asked for its configuration.
func (a *admin) connect(ctx context.Context) (net.Conn, error) {
	config := a.secure.Load()
	if config == nil {
		return a.dial(ctx)
	}
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for {
		conn, err := a.dial(ctx)
		if err == nil {
			secured := tls.Client(conn, config)
			if err = secured.HandshakeContext(ctx); err == nil {
				return secured, nil
			}
			_ = conn.Close()
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
	}
}

// SecureAdmin makes the methods that ask the admin endpoint use TLS, where the bootstrap has put it behind the gate of
// [Surroundings]. It is called before them.
func (e *Envoy) SecureAdmin(config *tls.Config) {
	if e.plan.surroundings.AdminGate != "" {
		e.admin.secure.Store(config)
	}
}

// AdminGet reads a path of the admin endpoint, such as /stats?filter=rbac, on a connection that is kept alive. Any other
// status than 200 is an error. If Envoy has ended by itself, AdminGet returns the error of Err.
func (e *Envoy) AdminGet(ctx context.Context, path string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://envoy"+path, nil)
	if err != nil {
		return nil, fmt.Errorf("envoy: admin: GET %s: %w", path, err)
	}
	resp, err := e.admin.Do(req)
	if err != nil {
		if ended := e.Err(); ended != nil {
			return nil, ended
		}
		return nil, fmt.Errorf("envoy: admin: GET %s: %w", path, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("envoy: admin: GET %s: %w", path, err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("envoy: admin: GET %s: %s: %s", path, resp.Status, oneLine(string(body)))
	}
	return body, nil
}

// serverVersion finds the release behind the hash of the source.
var serverVersion = regexp.MustCompile(`^[^/]*/(\d+\.\d+\.\d+)`)

// Version asks the running Envoy for its release, such as 1.40.0, at the admin endpoint: the tag of an image, or the name of a
// binary, may be wrong. Another release than the planned one is a *[pin.Error] with reason [pin.ErrUnknownVersion], because a
// report must not name a version that did not run.
func (e *Envoy) Version(ctx context.Context) (string, error) {
	body, err := e.AdminGet(ctx, "/server_info")
	if err != nil {
		return "", err
	}
	var info struct{ Version string }
	if err := json.Unmarshal(body, &info); err != nil {
		return "", fmt.Errorf("envoy: admin: GET /server_info: %w", err)
	}
	fail := func(format string, args ...any) (string, error) {
		return "", &pin.Error{
			Doing: "check the version of " + e.plan.runner.source(), Reason: pin.ErrUnknownVersion, Cause: fmt.Errorf(format, args...),
			Hint: "ask for its version or set " + e.plan.runner.variable() + " to another",
		}
	}
	m := serverVersion.FindStringSubmatch(info.Version)
	if m == nil {
		return fail("it says %q", info.Version)
	}
	if want := e.plan.version; want != "" && m[1] != want {
		return fail("it is Envoy %s, not %s", m[1], want)
	}
	return m[1], nil
}

// Digest returns the SHA-256 of the binary that runs, in hex. It reads the whole of it, which takes some tenths of a
// second, and fails where a container is gone or holds the binary elsewhere.
func (e *Envoy) Digest(ctx context.Context) (string, error) {
	digest, err := e.plan.runner.digest(ctx, e)
	if err != nil {
		return "", fmt.Errorf("envoy: read the binary of %s: %w", e.plan.runner.source(), err)
	}
	return digest, nil
}

func (pr process) digest(context.Context, *Envoy) (string, error) {
	if pr.pinned == "" {
		return fileDigest(pr.bin)
	}
	store, err := openStore()
	if err != nil {
		return "", err
	}
	return store.Digest(pr.bin, pr.pinned)
}

func (docker) digest(ctx context.Context, e *Envoy) (digest string, err error) {
	c, err := dialDocker(ctx)
	if err != nil {
		return "", err
	}
	defer c.Close()
	err = readBinary(ctx, c, e.container, func(binary io.Reader) (err error) {
		digest, err = pin.Digest(binary)
		return err
	})
	return digest, err
}

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
