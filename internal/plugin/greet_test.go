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

// A compiler that greets before it is greeted is as good as any, however quick it is.
func TestStartTakesAHastyGreeting(t *testing.T) {
	t.Parallel()
	for range 30 {
		c, err := plugin.Start(t.Context(), plugin.Shell(`echo '{"protocol": 1, "name": "hasty"}'; while read -r line; do :; done`), plugin.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if c.Name() != "hasty" {
			t.Errorf("it calls itself %q", c.Name())
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Whoever starts a compiler may leave before it has greeted, at any moment: the greeting
// is then for nobody, and of the process nothing is left.
func TestStartIsLeftBeforeTheGreeting(t *testing.T) {
	t.Parallel()
	pids := t.TempDir()
	// Each notes its process in the name of a file.
	command := plugin.Shell(`: > ` + pids + `/$$; echo '{"protocol": 1, "name": "x"}'; while read -r line; do :; done`)
	for i := range 300 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%31)*100*time.Microsecond)
		c, err := plugin.Start(ctx, command, plugin.Options{})
		switch broken := (*plugin.Error)(nil); {
		case err == nil:
			_ = c.Close() // an error where the context was first
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
