// Command meshproof proves what a mesh authorization policy really does, by
// asking a real Envoy.
//
// It exits with 0 where everything went as wanted, 1 where a decision differs, 2
// for bad input or usage, 3 where Envoy or the machine failed, and 130 where it
// was interrupted. It guarantees that nothing it started is left when it exits.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/meshproof/meshproof/internal/terminal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := execute(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// execute runs one command line and returns its exit status.
func execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	out := &terminal.Output{To: stdout}
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if out.Err != nil {
		if errors.Is(err, out.Err) {
			err = nil
		}
		err = withFailure(err, fmt.Errorf("write the result: %w", out.Err))
	}
	return exitStatus(ctx, err, stderr)
}
