package envoy

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/moby/moby/client"
	"golang.org/x/sys/unix"
)

// Nothing is left of an Envoy, however its owner ends.
func TestNothingOutlivesItsOwner(t *testing.T) {
	t.Parallel()
	for _, r := range bothRuntimes {
		for name, end := range map[string]func(*victim) error{
			"SIGKILL": func(v *victim) error { return v.cmd.Process.Signal(syscall.SIGKILL) },
			"SIGINT":  func(v *victim) error { return v.cmd.Process.Signal(syscall.SIGINT) },
			"panic":   func(v *victim) error { return v.stdin.Close() },
		} {
			t.Run(r.String()+"/"+name, func(t *testing.T) {
				t.Parallel()
				if r == Container {
					needDocker(t)
				}
				mode := r.String()
				if name == "panic" {
					mode += " panic"
				}
				v := startVictim(t, mode)
				if _, err := os.Stat(v.dir); err != nil {
					t.Fatal(err)
				}
				if err := end(v); err != nil {
					t.Fatal(err)
				}
				if err := v.cmd.Wait(); err == nil {
					t.Error("the owner ended well")
				}
				checkGone(t, v.dir, v.pid, v.container)
			})
		}
	}
}

// If the watchdog dies with the owner, the next Prepare cleans up.
func TestSweep(t *testing.T) {
	t.Parallel()
	for _, r := range bothRuntimes {
		t.Run(r.String(), func(t *testing.T) {
			t.Parallel()
			if r == Container {
				needDocker(t)
			}
			v := startVictim(t, r.String())
			for _, pid := range watchdogsOf(t, v.dir) {
				if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
					t.Fatal(err)
				}
			}
			living := filepath.Join(t.TempDir(), "living")
			d, err := newRunDir(living)
			if err != nil {
				t.Fatal(err)
			}
			defer d.remove()
			if _, err := lockDir(living, 0, unix.LOCK_EX|unix.LOCK_NB); !errors.Is(err, errLocked) {
				t.Errorf("lock of a living owner: %v, want %v", err, errLocked)
			}
			if err := v.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = v.cmd.Wait()
			// Another test's Prepare may come first; the result is the same.
			if _, err := Prepare(t.Context(), Options{Runtime: r}); err != nil {
				t.Fatal(err)
			}
			checkGone(t, v.dir, v.pid, v.container)
		})
	}
}

// watchdogsOf finds the shells that look after a directory.
func watchdogsOf(t *testing.T, dir string) []int {
	t.Helper()
	var pids []int
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		line, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(line), "meshproof-watchdog") || !strings.Contains(string(line), dir) {
			continue
		}
		var pid int
		if _, err := fmt.Sscanf(file, "/proc/%d/cmdline", &pid); err == nil {
			pids = append(pids, pid)
		}
	}
	if len(pids) != 1 {
		t.Fatalf("watchdogs of %s: %v, want one", dir, pids)
	}
	return pids
}

func TestSweepKillsAnEnvoyWithoutOwner(t *testing.T) {
	t.Parallel()
	dir := runDirPath()
	d, err := newRunDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	orphan := exec.Command("/bin/sh", "-c", "read -r line", "orphan", filepath.Join(d.path, bootstrapName))
	stdin, err := orphan.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	if err := orphan.Start(); err != nil {
		t.Fatal(err)
	}
	d.lock.Close() // as the kernel does for a dead owner
	sweepDirs()
	var exit *exec.ExitError
	if err := orphan.Wait(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Errorf("the orphan ended with %v, want SIGKILL", err)
	}
	checkGone(t, dir, 0, "")
}

// Prepare leaves the containers of other programs alone.
func TestSweepLeavesOtherContainers(t *testing.T) {
	t.Parallel()
	e := start(t, Options{Runtime: Container}, adminOnly)
	c, err := dialDocker(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	sweepDirs()
	sweepContainers(t.Context(), c)
	if _, err := c.ContainerInspect(t.Context(), e.ContainerID(), client.ContainerInspectOptions{}); err != nil {
		t.Errorf("a living owner's container: %v", err)
	}
}

// A sweep never removes a folder that an owner is making, and never writes into a folder that
// an owner is removing.
func TestSweepBesideOwners(t *testing.T) {
	t.Parallel()
	var owners, sweepers sync.WaitGroup
	done := make(chan struct{})
	for range 2 {
		sweepers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					sweepDirs()
				}
			}
		})
	}
	for range 4 {
		owners.Go(func() {
			for range 200 {
				dir, err := newRunDir(runDirPath())
				if err != nil {
					t.Error(err)
					return
				}
				if err := os.WriteFile(filepath.Join(dir.path, bootstrapName), []byte("{}"), 0o600); err != nil {
					t.Errorf("the directory of a living owner was swept: %v", err)
				}
				if err := dir.remove(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	owners.Wait()
	close(done)
	sweepers.Wait()
}
