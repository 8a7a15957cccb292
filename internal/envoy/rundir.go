package envoy

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	runDirPrefix  = "meshproof-envoy-"
	lockName      = "lock"
	bootstrapName = "bootstrap.json"
	socketName    = "admin.sock"
	maxSocketPath = 100 // bytes; the least of what the systems allow is 104 with the final NUL
)

// runDir is the private directory of one Envoy. Its lock is held by this process as long as the directory is in use,
// which is how sweep tells the living from the dead.
type runDir struct {
	path string
	lock *os.File
}

// runDirParent is the temporary directory, unless its name is so long that no UNIX socket fits below it.
func runDirParent() string {
	dir := os.TempDir()
	if len(dir)+len("/")+len(runDirPrefix)+len("aaaaaaaaaaaaa/")+len(socketName) > maxSocketPath {
		return "/tmp"
	}
	return dir
}

// runDirPath names a directory that does not exist yet. Its name is known before it is made because the bootstrap holds
// the path of the admin socket.
func runDirPath() string {
	return filepath.Join(runDirParent(), runDirPrefix+strings.ToLower(rand.Text()[:13]))
}

// newRunDir makes the directory and locks it. It fails with os.ErrExist if the directory is in use.
func newRunDir(path string) (*runDir, error) {
	// Between its creation and its lock a directory looks dead and may be swept by another process: then try again.
	for range 10 {
		if err := os.Mkdir(path, 0o700); err != nil {
			return nil, err
		}
		lock, err := lockDir(path, os.O_CREATE, unix.LOCK_EX)
		if err == nil {
			return &runDir{path: path, lock: lock}, nil
		}
		if !errors.Is(err, os.ErrNotExist) {
			return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), os.RemoveAll(path))
		}
	}
	return nil, fmt.Errorf("make %s: it was swept ten times in a row", path)
}

func (d *runDir) join(name string) string { return filepath.Join(d.path, name) }

// remove deletes the directory, then lets go of the lock.
func (d *runDir) remove() error {
	return errors.Join(os.RemoveAll(d.path), d.lock.Close())
}

var errLocked = errors.New("locked by another process")

// lockDir takes the lock of a run directory; only its owner may create it, or a sweep would put a file where the owner
// is removing the last ones. It fails with os.ErrNotExist if the directory or its lock is gone and, with unix.LOCK_NB,
// with errLocked if its owner lives.
func lockDir(path string, create, how int) (*os.File, error) {
	name := filepath.Join(path, lockName)
	f, err := os.OpenFile(name, os.O_RDWR|create, 0o600)
	if err != nil {
		return nil, err
	}
	if err := flock(f, how); err != nil {
		f.Close()
		if err == unix.EWOULDBLOCK {
			return nil, errLocked
		}
		return nil, err
	}
	// Whoever held the lock before may have removed the file that is locked now.
	locked, err := f.Stat()
	if err == nil {
		var named os.FileInfo
		if named, err = os.Stat(name); err == nil && !os.SameFile(locked, named) {
			err = os.ErrNotExist
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// flock locks an open file. It asks again where a signal interrupts the wait.
func flock(f *os.File, how int) error {
	for {
		if err := unix.Flock(int(f.Fd()), how); err != unix.EINTR {
			return err
		}
	}
}
