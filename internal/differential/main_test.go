package differential_test

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/internal/envoy"
)

// running is the one Envoy of all tests.
var running struct {
	once sync.Once
	h    *harness.Harness
	err  error
}

// tests closes the shared harness before goroutines are counted.
type tests struct{ *testing.M }

func (t tests) Run() int {
	code := t.M.Run()
	if running.h != nil {
		if err := running.h.Close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return code
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(tests{m}) }

func shared(t testing.TB) *harness.Harness {
	t.Helper()
	running.once.Do(func() {
		running.h, running.err = harness.Start(context.Background(), harness.WithRuntime(envoy.Process))
	})
	if running.err != nil {
		t.Fatal(running.err)
	}
	return running.h
}
