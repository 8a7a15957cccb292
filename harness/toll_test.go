package harness

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/meshproof/meshproof/internal/testbed"
)

// toll stands between the callers of a mesh and Envoy, and counts the writes of callers. At
// one of the writes it calls a function, which says whether to forward that write.
func toll(t *testing.T, m *Mesh, at int64, do func() (forward bool)) {
	t.Helper()
	target := m.slot.Dial
	var writes atomic.Int64
	pay := func(from, to net.Conn) {
		buffer := make([]byte, 64<<10)
		for {
			n, err := from.Read(buffer)
			if err != nil || writes.Add(1) == at && !do() {
				return
			}
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
	}
	m.slot.Dial = testbed.Serve(t, func(from net.Conn) {
		to, err := net.Dial("tcp", target)
		if err != nil {
			return
		}
		var forwarded sync.WaitGroup
		defer forwarded.Wait()
		defer to.Close()
		forwarded.Go(func() {
			defer from.Close()
			_, _ = io.Copy(from, to)
		})
		pay(from, to)
	}).String()
	t.Cleanup(func() { m.slot.Dial = target })
}
