package plugin_test

import (
	"context"
	"errors"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/meshproof/meshproof/internal/plugin"
)

// TestEarlyGreeting has a compiler that greets before it is greeted.
func TestEarlyGreeting(t *testing.T) {
	t.Parallel()
	for range 30 {
		c, err := plugin.Start(t.Context(), plugin.Shell(`echo '{"protocol": 1, "name": "early"}'; while read -r line; do :; done`), plugin.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if c.Name != "early" {
			t.Errorf("its name is %q", c.Name)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCancelledStart ends the context at different moments of Start. No process is left.
func TestCancelledStart(t *testing.T) {
	t.Parallel()
	pids := t.TempDir()
	// Each process writes its ID as the name of a file.
	command := plugin.Shell(`: > ` + pids + `/$$; echo '{"protocol": 1, "name": "x"}'; while read -r line; do :; done`)
	starts := 300
	if testing.Short() {
		starts = 62 // two at each moment
	}
	for i := range starts {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%31)*100*time.Microsecond)
		c, err := plugin.Start(ctx, command, plugin.Options{})
		switch broken := (*plugin.Error)(nil); {
		case err == nil:
			_ = c.Close() // an error when the context ended first
		case !errors.As(err, &broken) || !errors.Is(err, context.DeadlineExceeded):
			t.Errorf("after %v: %v", time.Duration(i%31)*100*time.Microsecond, err)
		}
		cancel()
	}
	files, err := filepath.Glob(filepath.Join(pids, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		pid, err := strconv.Atoi(filepath.Base(file))
		if err != nil {
			t.Fatal(err)
		}
		if syscall.Kill(pid, 0) != syscall.ESRCH {
			t.Errorf("process %d is left", pid)
		}
	}
}
