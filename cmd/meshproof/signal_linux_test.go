package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// startPlan starts the proof of many policies, and returns when it has read them: then it plans,
// which takes minutes and does not look at its context.
func startPlan(t *testing.T) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	var policies bytes.Buffer
	for i := range 3000 {
		fmt.Fprintf(&policies, "---\ntype: MeshTrafficPermission\nmesh: default\nname: p%d\nspec: {default: {allow: [{spiffeId: {type: Prefix, value: spiffe://trust-domain.mesh/ns/n%d/}, path: {type: Prefix, value: /p%d}}]}}\n", i, i, i)
	}
	file := filepath.Join(t.TempDir(), "policies.yaml")
	if err := os.WriteFile(file, policies.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd, stderr := exec.Command(os.Args[0], "prove", file), new(bytes.Buffer)
	cmd.Args[0], cmd.Stderr = "meshproof", stderr
	cmd.Env = append(os.Environ(), surroundings(t)...)
	watch, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	if err == nil {
		_, err = unix.InotifyAddWatch(watch, file, unix.IN_CLOSE_NOWRITE)
	}
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	// This returns when the program has closed the file.
	if _, err := unix.Read(watch, make([]byte, unix.SizeofInotifyEvent)); err != nil {
		t.Fatal(err)
	}
	if err := unix.Close(watch); err != nil {
		t.Fatal(err)
	}
	return cmd, stderr
}

// TestASignalEndsWork interrupts work that does not look at its context: the plan of a proof
// of many policies.
func TestASignalEndsWork(t *testing.T) {
	t.Parallel()
	// Tests that nohup started hand ignored hangups down to the programs that they start, unless they catch them.
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(hangups) })
	for _, of := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(of.String(), func(t *testing.T) {
			t.Parallel()
			cmd, stderr := startPlan(t)
			if err := cmd.Process.Signal(of); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			err := cmd.Wait()
			exit := (*exec.ExitError)(nil)
			if !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted || time.Since(began) > endTime {
				t.Errorf("%v after %s, want the exit status %d", err, time.Since(began), exitInterrupted)
			}
			if got, want := stderr.String(), "meshproof: interrupted; everything that was started is gone\n"; got != want {
				t.Errorf("it said %q, want %q", got, want)
			}
		})
	}
}
