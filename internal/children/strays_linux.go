package children

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// Adopt makes this process the parent of the orphans of its children.
var Adopt = sync.OnceValue(func() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("adopt the orphans of child processes: %w", err)
	}
	return nil
})

// mostRounds bounds the search: the orphans of an orphan come to light when it has ended.
const mostRounds = 100

// EndStrays kills the orphans of children, and their orphans in turn.
func EndStrays() {
	mu.Lock()
	defer mu.Unlock()
	for range mostRounds {
		strays := findStrays()
		if len(strays) == 0 {
			return
		}
		for _, pid := range strays {
			_ = unix.Kill(pid, unix.SIGKILL)
			for {
				if _, err := unix.Wait4(pid, nil, 0, nil); err != unix.EINTR {
					break
				}
			}
		}
	}
}

// findStrays returns the children that this process has not started. A child of an unknown
// package runs in the group of this process, and an orphan of a child that got a group does not.
func findStrays() []int {
	self, group := os.Getpid(), unix.Getpgrp()
	var strays []int
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil || known[pid] {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		// The name of the program stands in parentheses, and may contain any character.
		_, rest, _ := strings.Cut(string(text[strings.LastIndexByte(string(text), ')')+1:]), " ")
		fields := strings.Fields(rest) // state, parent, group
		if len(fields) > 2 && fields[1] == strconv.Itoa(self) && fields[2] != strconv.Itoa(group) {
			strays = append(strays, pid)
		}
	}
	return strays
}
