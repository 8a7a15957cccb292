package envoy

import (
	"errors"
	"fmt"
	"net/netip"
	"sync"
)

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
			return fmt.Errorf("hold a port: %w", err)
		}
		h.ports = append(h.ports, port)
		h.releases = append(h.releases, release)
	}
	return nil
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
