package envoy

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/meshproof/meshproof/internal/children"
	"github.com/meshproof/meshproof/internal/pin"
)

// process runs a binary as a child process.
type process struct {
	bin string
	// pinned is the version that the binary is pinned for, empty for the binary of ENVOY_BIN.
	pinned string
}

// check compares the binary with its pin.
func (pr process) check() error {
	if pr.pinned == "" {
		return nil
	}
	store, err := openStore()
	if err != nil {
		return err
	}
	return store.Check(pr.bin, pr.pinned)
}

func (process) runtime() Runtime { return Process }

func (pr process) source() string { return "binary " + pr.bin }

func (process) variable() string { return "ENVOY_BIN" }

// prepareProcess takes ENVOY_BIN, or fetches the binary of the version.
func prepareProcess(ctx context.Context, o Options, bin string) (*Plan, error) {
	version, pinned := o.Version, ""
	var err error
	if bin != "" {
		bin, version, err = ownBinary(ctx, o.Version, bin)
	} else if version, err = pin.NormalVersion(version); err == nil {
		pinned = version
		bin, err = Fetch(ctx, version)
	}
	if err != nil {
		return nil, err
	}
	dir := runDirPath()
	return &Plan{
		version: version, options: o, dir: dir, runner: process{bin, pinned},
		surroundings: Surroundings{
			HostName: loopback.String(), BindAddress: loopback.String(), ListenAddress: loopback.String(),
			Admin: filepath.Join(dir, socketName),
		},
	}, nil
}

// versionOutput finds the release behind the hash of the source.
var versionOutput = regexp.MustCompile(`version: [^/]*/(\d+\.\d+\.\d+)`)

// ownBinary asks the binary in ENVOY_BIN for its version. It refuses another version than the one asked for, because a report
// must not name a version that did not run.
func ownBinary(ctx context.Context, asked, bin string) (path, version string, err error) {
	fail := func(reason, cause error, hint string) (string, string, error) {
		return "", "", &pin.Error{Doing: "use ENVOY_BIN=" + bin, Reason: reason, Cause: cause, Hint: hint}
	}
	if path, err = filepath.Abs(bin); err != nil {
		return fail(ErrStart, err, "")
	}
	if version, err = binaryVersion(ctx, path); err != nil {
		return fail(ErrStart, err, "it must be the path of an Envoy binary for this machine")
	}
	if asked != "" {
		want, err := pin.NormalVersion(asked)
		if err != nil {
			return "", "", err
		}
		if want != version {
			return fail(pin.ErrUnknownVersion, fmt.Errorf("it is Envoy %s, but %s is asked for", version, want), "unset ENVOY_BIN or ask for its version")
		}
	}
	return path, version, nil
}

const versionTimeout = 10 * time.Second

// binaryVersion runs a binary to ask it for its version.
func binaryVersion(ctx context.Context, path string) (string, error) {
	within, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	cmd := exec.CommandContext(within, path, "--version")
	// A script may have started a program that holds its standard output.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case within.Err() != nil:
		return "", fmt.Errorf("it has not answered --version for %s", versionTimeout)
	case err != nil:
		return "", err
	}
	m := versionOutput.FindSubmatch(out)
	if m == nil {
		return "", fmt.Errorf("--version printed %q", oneLine(string(out)))
	}
	return string(m[1]), nil
}

func (pr process) start(ctx context.Context, p *Plan, bootstrap []byte) (*Envoy, error) {
	fail := func(err error) (*Envoy, error) {
		return nil, &pin.Error{Doing: "start " + p.String(), Reason: ErrStart, Cause: err}
	}
	if err := ctx.Err(); err != nil {
		return fail(err)
	}
	if err := pr.check(); err != nil {
		return nil, err
	}
	h, err := hold(p, bootstrap)
	if err != nil {
		return fail(err)
	}
	e, err := pr.launch(p, h)
	if err != nil {
		return fail(errors.Join(err, h.release()))
	}
	return e, nil
}

// holding is what a process holds while it runs. Each field may be nil.
type holding struct {
	ports *heldPorts
	dir   *runDir
	fifo  *bootstrapFIFO
}

// hold makes what a process of the plan needs. Where it fails it holds nothing.
func hold(p *Plan, bootstrap []byte) (h holding, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, h.release())
		}
	}()
	if h.ports, err = holdPorts(p.options.Ports); err != nil {
		return h, err
	}
	if h.dir, err = newRunDir(p.dir); err != nil {
		return h, err
	}
	h.fifo, err = newBootstrapFIFO(filepath.Join(h.dir.path, bootstrapName), bootstrap)
	return h, err
}

// release gives everything back, the last first. The process has ended, or was never started.
func (h holding) release() error {
	var errs []error
	if h.fifo != nil {
		errs = append(errs, h.fifo.abandon())
	}
	if h.dir != nil {
		errs = append(errs, h.dir.remove())
	}
	if h.ports != nil {
		errs = append(errs, h.ports.release())
	}
	return errors.Join(errs...)
}

// launch starts the binary and the watchdog that kills it if this program ends without doing so. Where it fails no process is left.
func (pr process) launch(p *Plan, h holding) (*Envoy, error) {
	log := newTail(p.options.Log)
	cmd := exec.Command(pr.bin, p.options.arguments(h.fifo.path)...)
	cmd.Dir = h.dir.path
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = envoyProcAttr()
	cmd.WaitDelay = time.Second

	e := &Envoy{plan: p, ports: h.ports, admin: newAdmin(dialUNIX(filepath.Join(h.dir.path, socketName))), done: make(chan struct{})}
	started := make(chan error)
	watched := make(chan *watchdog, 1) // nil if there is none
	go func() {
		runtime.LockOSThread() // see envoyProcAttr
		defer runtime.UnlockOSThread()
		err := children.Start(cmd)
		started <- err
		if err == nil {
			how := cmd.Wait()
			children.Forget(cmd)
			if how == nil {
				how = errors.New("exit status 0")
			}
			if dog := <-watched; dog != nil {
				dog.ended()
			}
			_ = h.fifo.abandon()
			e.ended(how, log)
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	e.pid = cmd.Process.Pid
	dog, err := watchProcess(e.pid, h.dir)
	watched <- dog
	if err != nil {
		err = errors.Join(err, cmd.Process.Kill())
		<-e.done
		return nil, err
	}
	e.kill = func() { _ = cmd.Process.Kill() }
	e.stop = func() error { return e.terminate(cmd.Process) }
	e.release = func() error {
		err := h.release()
		dog.dismiss()
		return err
	}
	return e, nil
}

// terminate asks the process to end, kills it where it does not, and waits for its end.
func (e *Envoy) terminate(p *os.Process) error {
	if err := p.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("envoy: end process %d: %w", e.pid, err)
	}
	kill := time.AfterFunc(terminationGrace, func() { _ = p.Kill() })
	defer kill.Stop()
	<-e.done
	return nil
}

// heldPorts are the ports of a process; see holdPort.
type heldPorts struct {
	mu       sync.Mutex
	ports    []netip.AddrPort
	releases []func() error
	closed   bool
}

func holdPorts(n int) (*heldPorts, error) {
	h := &heldPorts{}
	if n == 0 {
		n = defaultProcessPorts
	}
	if err := h.grow(n); err != nil {
		return nil, errors.Join(err, h.release())
	}
	return h, nil
}

// grow holds ports until there are n.
func (h *heldPorts) grow(n int) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for len(h.ports) < n {
		if h.closed {
			return errors.New("Envoy is closed")
		}
		port, release, err := holdPort()
		if err != nil {
			return fmt.Errorf("hold a port: %w", explainLimit(err))
		}
		h.ports = append(h.ports, port)
		h.releases = append(h.releases, release)
	}
	return nil
}

// filesNeeded is how many files a lab may have open, with room: its ports, its connections, and those of its Envoy.
const filesNeeded = 1024

// explainLimit adds to the error of too many open files how many are allowed and how many are needed.
func explainLimit(err error) error {
	var limit unix.Rlimit
	if !errors.Is(err, unix.EMFILE) || unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return err
	}
	return fmt.Errorf("%w: %d are allowed, and %d are enough: use ulimit -n %d", err, limit.Cur, filesNeeded, filesNeeded)
}

func (h *heldPorts) slot(i int) Slot {
	if err := h.grow(i + 1); err != nil {
		return Slot{}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return Slot{Listen: h.ports[i], Dial: h.ports[i].String()}
}

func (h *heldPorts) len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.ports)
}

func (h *heldPorts) release() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	var errs []error
	for _, release := range h.releases {
		errs = append(errs, release())
	}
	h.releases = nil
	return errors.Join(errs...)
}

// bootstrapFIFO gives a bootstrap to Envoy, without a copy of its private keys on a disk. Envoy reads it once.
type bootstrapFIFO struct {
	path   string
	opened chan struct{} // closed when a reader has opened it
	fed    chan struct{} // closed when it is gone
}

func newBootstrapFIFO(path string, content []byte) (*bootstrapFIFO, error) {
	if err := unix.Mkfifo(path, 0o600); err != nil {
		return nil, fmt.Errorf("make the FIFO %s: %w", path, err)
	}
	b := &bootstrapFIFO{path: path, opened: make(chan struct{}), fed: make(chan struct{})}
	go b.feed(content)
	return b, nil
}

func (b *bootstrapFIFO) feed(content []byte) {
	defer close(b.fed)
	f, err := os.OpenFile(b.path, os.O_WRONLY, 0) // waits for a reader
	close(b.opened)
	if err == nil {
		_, _ = f.Write(content) // fails if Envoy ends meanwhile, which shows elsewhere
		f.Close()
	}
	os.Remove(b.path)
}

// abandon ends feed if it still waits for a reader. It is called when no reader can come, and may be called again.
func (b *bootstrapFIFO) abandon() error {
	r, err := os.OpenFile(b.path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err == nil {
		<-b.opened
		r.Close()
	} else if !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("abandon the bootstrap: %w", err)
	}
	<-b.fed
	return nil
}
