package envoy

import (
	"errors"
	"fmt"
	"sync"
	"time"

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

// Runtime is that of the plan.
func (e *Envoy) Runtime() Runtime { return e.plan.Runtime() }

// PID is the process ID, or 0 for a container.
func (e *Envoy) PID() int { return e.pid }

// ContainerID is Docker's ID of the container, or empty for a process.
func (e *Envoy) ContainerID() string { return e.container }

// Slots is the number of slots that are held ready.
func (e *Envoy) Slots() int { return e.ports.len() }

// Slot returns the i-th slot, from 0; the same one each time. A slot beyond Slots is made on demand. Where that cannot
// be, it is the zero Slot: the ports of a container are fixed at its start, and open files are limited.
func (e *Envoy) Slot(i int) Slot {
	if i < 0 {
		return Slot{}
	}
	return e.ports.slot(i)
}

// Done is closed when Envoy has ended, whether closed or by itself.
func (e *Envoy) Done() <-chan struct{} { return e.done }

// Err tells why Envoy ended: nil while it runs and when it was closed, else a *[pin.Error] with reason ErrExited that carries
// the most telling line of Envoy's log.
func (e *Envoy) Err() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.err
}

// Close ends Envoy, gracefully for up to three seconds, and removes everything that belongs to it. Further calls return
// what the first one did.
func (e *Envoy) Close() error {
	e.closed.Do(func() {
		e.mu.Lock()
		e.closing = true
		e.mu.Unlock()
		e.admin.close()
		e.closeErr = errors.Join(e.stop(), e.release())
	})
	return e.closeErr
}

// ended records the end of Envoy; how is its exit status, and log the end of its log.
func (e *Envoy) ended(how error, log *tail) {
	e.mu.Lock()
	if !e.closing {
		line := log.telling()
		if line == "" {
			line = "it logged nothing"
		}
		e.err = &pin.Error{
			Doing:  "run " + e.plan.String(),
			Reason: ErrExited, Cause: fmt.Errorf("%w: %s", how, line),
		}
	}
	e.mu.Unlock()
	close(e.done)
}
