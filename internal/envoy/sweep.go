package envoy

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// sweepDirs removes the run directories whose owner is dead, and the processes that still work in them. That is what
// remains where the watchdog was killed together with its owner. Nothing depends on its success.
func sweepDirs() {
	dirs, _ := filepath.Glob(filepath.Join(runDirParent(), runDirPrefix+"*"))
	for _, dir := range dirs {
		if !ownDir(dir) {
			continue
		}
		lock, err := lockDir(dir, 0, unix.LOCK_EX|unix.LOCK_NB)
		if errors.Is(err, os.ErrNotExist) {
			// Its owner is about to lock it, which it then tries again, or died before it did;
			// or the owner has removed all that was in it.
			_ = os.Remove(dir)
		}
		if err != nil {
			continue
		}
		killIn(dir)
		os.RemoveAll(dir)
		lock.Close()
	}
}

// ownDir tells whether path is a directory, not a link to one, of this user.
func ownDir(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid()
}

// killIn kills the processes whose command line names the bootstrap in dir. It needs Linux's /proc and finds nothing
// elsewhere.
func killIn(dir string) {
	bootstrap := []byte("\x00" + filepath.Join(dir, bootstrapName) + "\x00")
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		line, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(line, bootstrap) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}
