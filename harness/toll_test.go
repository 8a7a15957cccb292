package harness

import (
	"net"
	"sync"
	"sync/atomic"
	"testing"
)

// toll stands between the callers of a mesh and Envoy, and counts the writes of callers. At
// one of the writes it calls a function, which says whether to forward that write.
func toll(t *testing.T, m *Mesh, at int64, do func() (forward bool)) {
	t.Helper()
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	target := m.slot.Dial
	m.slot.Dial = lis.Addr().String()
	var writes atomic.Int64
	var served sync.WaitGroup
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
	served.Go(func() {
		for {
			from, err := lis.Accept()
			if err != nil {
				return
			}
			served.Go(func() {
				defer from.Close()
				to, err := net.Dial("tcp", target)
				if err != nil {
					return
				}
				served.Go(func() {
					defer from.Close()
					forward(from, to)
				})
				defer to.Close()
				pay(from, to)
			})
		}
	})
	t.Cleanup(func() {
		m.slot.Dial = target
		_ = lis.Close()
		served.Wait()
	})
}

func forward(to, from net.Conn) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}
