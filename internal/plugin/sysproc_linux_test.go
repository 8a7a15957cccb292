package plugin

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func init() {
	// Starts a compiler, does not close it and does not end.
	helpers["owner"] = func(in io.Reader, _ io.Writer, args []string) {
		if _, err := Start(context.Background(), helper("hang", args...), Options{}); err != nil {
			panic(err)
		}
		_, _ = io.Copy(io.Discard, in)
	}
}

// TestKilledOwner shows that a compiler that hangs ends with its killed owner.
func TestKilledOwner(t *testing.T) {
	t.Parallel()
	listener := listen(t)
	command := helper("owner", listener.Addr().String())
	owner := exec.Command(command[0], command[1:]...)
	stdin, err := owner.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	compiler := acceptConn(t, listener)
	child := accept(t, listener)
	defer child()
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := owner.Wait(); err == nil || fmt.Sprint(err) != "signal: killed" {
		t.Errorf("the owner: %v", err)
	}
	waitClosed(compiler)
}

// TestADaemonOfACompilerEnds starts a compiler that leaves a process with a session of its own.
func TestADaemonOfACompilerEnds(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pid")
	script := `setsid sleep 300 </dev/null >/dev/null 2>&1 & echo $! >` + file + `; exec "$@"`
	c, err := Start(t.Context(), append([]string{"sh", "-c", script, "sh"}, helper("parrot")...), Options{})
	if err != nil {
		t.Fatal(err)
	}
	digits, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(digits)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, 0); err != nil {
		t.Fatalf("the daemon does not run: %v", err)
	}
	_ = c.Close()
	if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
		t.Errorf("the daemon is left: %v", err)
	}
}
