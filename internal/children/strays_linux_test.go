package children_test

import (
	"bufio"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/meshproof/meshproof/internal/children"
)

// TestProcessesLeftBehindAreEnded starts a shell that leaves processes behind: one in its group, one with a
// session and no environment of its own, and one of those has a child too.
func TestProcessesLeftBehindAreEnded(t *testing.T) {
	if err := children.Adopt(); err != nil {
		t.Fatal(err)
	}
	const script = `
sleep 300 >/dev/null 2>&1 & echo $!
setsid env -i sh -c 'echo $$; exec >/dev/null 2>&1; setsid sleep 301 & sleep 302' &
`
	cmd := exec.Command("sh", "-c", script)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := children.Start(cmd); err != nil {
		t.Fatal(err)
	}
	var pids []int
	for lines := bufio.NewScanner(out); len(pids) < 2 && lines.Scan(); {
		pid, err := strconv.Atoi(strings.TrimSpace(lines.Text()))
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	bystander := exec.Command("sleep", "300") // of another package, in the group of this process
	if err := bystander.Start(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if children.AwaitNone(0) {
		t.Error("a command that is waited for is no stray")
	}
	children.Forget(cmd)
	children.EndStrays()
	for _, pid := range pids {
		if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
			t.Errorf("process %d is left: %v", pid, err)
		}
	}
	if err := bystander.Process.Kill(); err != nil {
		t.Errorf("a child that is no stray was ended: %v", err)
	}
	_ = bystander.Wait()
	if !children.AwaitNone(10 * time.Second) {
		t.Error("a command is left")
	}
}
