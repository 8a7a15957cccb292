package main

import (
	"math"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/testcontainers/testcontainers-go"
)

// A run takes only the memory that it uses, whatever the garbage collector is told. The least of some starts
// counts: on a busy machine a start may be collected late, most of all with the race detector.
func TestStartTakesLittleMemory(t *testing.T) {
	t.Parallel()
	const most = 160 << 10 // KiB: half of what one run takes that clears all that start makes
	for _, percent := range []string{"100", "400"} {
		least := int64(math.MaxInt64)
		for tries := 0; tries < 20 && least > most; tries++ {
			cmd := exec.Command("meshproof", "version")
			cmd.Env = append(os.Environ(), "GOGC="+percent)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			least = min(least, cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)
		}
		if least > most {
			t.Errorf("GOGC=%s: it takes %d KiB", percent, least)
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
