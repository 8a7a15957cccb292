// Package testbed sets up what tests need: a [Bed] is what all tests of a package share, since it
// is slow to start, and [Serve] is a server.
//
// It guarantees that a bed is started at most once, by the first test that asks for it, and
// that it is closed before the goroutines that are left are counted. It does not bring the bed
// back to its first state between tests.
package testbed

import (
	"fmt"
	"io"
	"os"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

// Bed is what the tests share.
type Bed[T io.Closer] struct {
	// Start is called once.
	Start func() (T, error)

	once    sync.Once
	started bool
	value   T
	err     error
}

// Get returns what is shared. The test fails if it does not start.
func (b *Bed[T]) Get(t testing.TB) T {
	t.Helper()
	b.once.Do(func() {
		b.value, b.err = b.Start()
		b.started = b.err == nil
	})
	if b.err != nil {
		t.Fatal(b.err)
	}
	return b.value
}

// Main is for TestMain: it runs the tests, and fails if the bed does not close or if goroutines
// are left.
func (b *Bed[T]) Main(m *testing.M) { goleak.VerifyTestMain(closing[T]{m, b}) }

type closing[T io.Closer] struct {
	tests *testing.M
	bed   *Bed[T]
}

func (c closing[T]) Run() int {
	code := c.tests.Run()
	if c.bed.started {
		if err := c.bed.value.Close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return code
}
