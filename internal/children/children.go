// Package children knows the child processes of this process that may leave something
// behind, and keeps the end of what they say.
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
	// changed is closed when a command starts or is forgotten.
	changed = make(chan struct{})
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
	tellChange()
	return nil
}

// Forget is called when a command has been waited for.
func Forget(cmd *exec.Cmd) {
	mu.Lock()
	defer mu.Unlock()
	delete(known, cmd.Process.Pid)
	tellChange()
}

// tellChange wakes up those who wait. The lock is held.
func tellChange() {
	close(changed)
	changed = make(chan struct{})
}

// quiet is how long there must be no child: the program itself ends in that time, if it does
// anything that looks for the end.
const quiet = 500 * time.Millisecond

// AwaitNone waits until all commands have ended, and reports whether they have within the
// limit.
func AwaitNone(limit time.Duration) bool {
	late := time.After(limit)
	for {
		mu.Lock()
		none, change := len(known) == 0, changed
		mu.Unlock()
		var calm <-chan time.Time
		if none {
			calm = time.After(quiet)
		}
		select {
		case <-change:
		case <-calm:
			return true
		case <-late:
			return false
		}
	}
}
