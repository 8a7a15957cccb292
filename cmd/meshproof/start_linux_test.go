package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/testcontainers/testcontainers-go"

	"github.com/meshproof/meshproof/internal/start"
)

// A run takes only the memory that it uses, whatever the garbage collector is told. The least of some starts
// counts: on a busy machine a start may be collected late, most of all with the race detector.
func TestStartTakesLittleMemory(t *testing.T) {
	t.Parallel()
	const most = 160 << 10 // KiB: half of what one run takes that clears all that start makes
	for _, percent := range []string{"100", "400"} {
		least := most + 1
		for tries := 0; tries < 20 && least > most; tries++ {
			cmd := exec.Command("peak")
			cmd.Env = append(os.Environ(), "GOGC="+percent)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			var peak int
			if _, err := fmt.Sscanf(string(out), "VmHWM: %d kB", &peak); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			least = min(least, peak)
			t.Logf("GOGC=%s: a start takes %d KiB", percent, peak)
		}
		if least > most {
			t.Errorf("GOGC=%s: each start takes more than %d KiB", percent, most)
		}
	}
}

func init() { programs["peak"] = peak }

// peak is a program that asks for its version, as main does, and prints the most memory that it has taken. The usage
// that the system reports of an ended child is no measure: it is at least what the parent had in use when it started
// the child.
func peak() {
	start.Done()
	execute(context.Background(), []string{"version"}, io.Discard, io.Discard)
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "VmHWM:") {
			fmt.Print(line)
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
