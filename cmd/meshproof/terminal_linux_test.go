package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// openTerminal returns both ends of a new pseudo-terminal.
func openTerminal(t *testing.T) (screen, terminal *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { screen.Close() })
	if err := unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return screen, terminal
}

// onTerminal runs meshproof on a new terminal. It sends the interrupt signal when the screen
// shows a text, or never if the text is empty. It returns the exit status and everything
// that the screen showed.
func onTerminal(t *testing.T, env []string, interruptAt string, args ...string) (status int, shown string) {
	t.Helper()
	screen, terminal := openTerminal(t)
	cmd := exec.Command("meshproof", args...)
	cmd.Env = append(append(os.Environ(), surroundings(t)...), env...)
	cmd.Stdout, cmd.Stderr = terminal, terminal
	err := cmd.Start()
	terminal.Close()
	if err != nil {
		t.Fatal(err)
	}
	var seen bytes.Buffer
	for chunk, waiting := make([]byte, 4096), interruptAt != ""; ; {
		n, err := screen.Read(chunk)
		seen.Write(chunk[:n])
		if waiting && bytes.Contains(seen.Bytes(), []byte(interruptAt)) {
			waiting = false
			if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
				t.Error(err)
			}
		}
		// Reading the screen of a closed terminal returns EIO.
		if errors.Is(err, syscall.EIO) || err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Wait(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), strings.ReplaceAll(seen.String(), "\r\n", "\n")
}

func TestInterrupt(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]string{
		"while Envoy starts": "starting Envoy",
		"between cases":      "2 of ",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tmp := t.TempDir()
			status, shown := onTerminal(t, []string{"TMPDIR=" + tmp}, at, "run", "--envoy", testedEnvoy())
			if status != exitInterrupted {
				t.Errorf("exit status %d, want %d", status, exitInterrupted)
			}
			if want := "\x1b[Kmeshproof: interrupted; everything that was started is gone\n"; !strings.HasSuffix(shown, want) {
				t.Errorf("it shows %q, want %q at its end", shown, want)
			}
			if left := leftBehind(tmp); len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
		})
	}
}

func TestColours(t *testing.T) {
	t.Parallel()
	file := t.TempDir() + "/case.yaml"
	text := "case: a caller gets in\nworkloads: [{name: b, inbounds: [{port: 80, protocol: http}]}]\nrequests: [{from: b, to: b/80, want: allow}]\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		env                []string
		coloured, progress bool
	}{
		"terminal":      {[]string{"TERM=xterm", "NO_COLOR="}, true, true},
		"NO_COLOR":      {[]string{"TERM=xterm", "NO_COLOR=1"}, false, true},
		"dumb terminal": {[]string{"TERM=dumb", "NO_COLOR="}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, shown := onTerminal(t, append(tt.env, "TMPDIR="+t.TempDir()), "", "run", file, "--envoy", testedEnvoy())
			if status != exitDiffers {
				t.Errorf("exit status %d, want %d", status, exitDiffers)
			}
			// The sign does not depend on colours.
			want := "\n  ✗ a caller gets in\n"
			if tt.coloured {
				want = "\n  \x1b[31m✗\x1b[0m a caller gets in\n"
			}
			if !strings.Contains(shown, want) {
				t.Errorf("it shows %q, want %q in it", shown, want)
			}
			if got := strings.Contains(shown, "starting Envoy"); got != tt.progress {
				t.Errorf("progress is shown: %t, want %t", got, tt.progress)
			}
			if !tt.coloured && !tt.progress && strings.Contains(shown, "\x1b") {
				t.Errorf("escape sequences in %q", shown)
			}
		})
	}
}
