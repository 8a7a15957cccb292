package testbed

import (
	"net"
	"sync"
	"testing"
)

// Serve gives each connection to a port of this machine to a function, closes the connection
// behind it, and returns the address. At the end of the test it waits for all of them.
func Serve(t testing.TB, handle func(net.Conn)) net.Addr {
	t.Helper()
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var served sync.WaitGroup
	served.Go(func() {
		for {
			conn, err := lis.Accept()
			if err != nil {
				return
			}
			served.Go(func() {
				defer conn.Close()
				handle(conn)
			})
		}
	})
	t.Cleanup(func() {
		_ = lis.Close()
		served.Wait()
	})
	return lis.Addr()
}
