package envoy

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// bootstrapFIFO hands a bootstrap to Envoy without a copy of its private keys on a disk. It is gone once Envoy has read it.
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

// abandon is called when no reader is left, and ends feed should it wait for one.
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
