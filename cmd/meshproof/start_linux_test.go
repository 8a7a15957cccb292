package main

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/testcontainers/testcontainers-go"
)

// A run takes only the memory that it uses, whatever the garbage collector is told.
func TestStartTakesLittleMemory(t *testing.T) {
	t.Parallel()
	const most = 160 << 10 // KiB: half of what one run takes that clears all that start makes
	for _, percent := range []string{"100", "400"} {
		cmd := exec.Command("meshproof", "version")
		cmd.Env = append(os.Environ(), "GOGC="+percent)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if used := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss; used > most {
			t.Errorf("GOGC=%s: it takes %d KiB", percent, used)
		}
	}
}

// Testcontainers names its session by the process that started this one. So it reads all processes of the
// machine, unless package start hides them. The name is a digest then, and has no hyphen.
func TestStartReadsNoProcesses(t *testing.T) {
	t.Parallel()
	if id := testcontainers.SessionID(); !strings.Contains(id, "-") {
		t.Errorf("the session is called %s: the processes of the machine were read before package start hid them", id)
	}
}
