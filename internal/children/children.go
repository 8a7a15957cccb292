// Package children knows the child processes of this process that may leave something
// behind.
//
// It guarantees that [EndStrays] ends every process that a child has left behind on Linux;
// also a process with a session and an environment of its own, because the kernel gives such
// an orphan to this process. On other systems it can end only the group of the child.
package children

import (
	"os/exec"
	"sync"
	"time"
)

var (
	mu    sync.Mutex
	known = map[int]bool{}
)

// Start starts a command that gets a process group of its own, and remembers it until [Forget].
func Start(cmd *exec.Cmd) error {
	// Under the lock, no child is taken for an orphan before it is known.
	mu.Lock()
	defer mu.Unlock()
	if err := cmd.Start(); err != nil {
		return err
	}
	known[cmd.Process.Pid] = true
	return nil
}

// Forget is called when a command has been waited for.
func Forget(cmd *exec.Cmd) {
	mu.Lock()
	defer mu.Unlock()
	delete(known, cmd.Process.Pid)
}

// none reports whether no command is remembered.
func none() bool {
	mu.Lock()
	defer mu.Unlock()
	return len(known) == 0
}

const (
	interval = 50 * time.Millisecond
	// quiet is how long there must be no child: the program itself ends in that time, if it
	// does anything that looks for the end.
	quiet = 500 * time.Millisecond
)

// AwaitNone waits until all commands have ended, and reports whether they have within the
// limit.
func AwaitNone(limit time.Duration) bool {
	deadline, since := time.Now().Add(limit), time.Now()
	for {
		switch {
		case !none():
			since = time.Now()
		case time.Since(since) >= quiet:
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
		time.Sleep(interval)
	}
}
