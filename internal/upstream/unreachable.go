package upstream

import (
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/meshproof/meshproof/internal/script"
)

// unreachable are the ports on which no connection comes about.
type unreachable struct {
	address string

	mu     sync.Mutex
	closed bool
	ports  map[script.Reach]*deadPort
}

// Port returns a port of the upstream's address that refuses connections, or that never answers
// them. It is opened at the first call.
func (u *Upstream) Port(reach script.Reach) (int, error) {
	d := &u.unreachable
	d.mu.Lock()
	defer d.mu.Unlock()
	if p := d.ports[reach]; p != nil {
		return p.port, nil
	}
	if d.closed {
		return 0, fmt.Errorf("upstream: open an unreachable port: %w", net.ErrClosed)
	}
	p, err := openDeadPort(d.address, reach)
	if err != nil {
		return 0, fmt.Errorf("upstream: open an unreachable port on %s: %w", d.address, err)
	}
	if d.ports == nil {
		d.ports = map[script.Reach]*deadPort{}
	}
	d.ports[reach] = p
	return p.port, nil
}

func (d *unreachable) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	var errs []error
	for _, p := range d.ports {
		errs = append(errs, p.close())
	}
	d.ports = nil
	return errors.Join(errs...)
}
