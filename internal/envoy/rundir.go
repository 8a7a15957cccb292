package envoy

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
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

// machine names the place whose file system a run directory is in, so that containers of another machine, or of a
// container that shares the daemon, are left alone.
func machine() string {
	host, _ := os.Hostname()
	mounts := ""
	if runtime.GOOS == "linux" {
		mounts, _ = os.Readlink("/proc/self/ns/mnt")
	}
	return fmt.Sprintf("%s %d %s", host, os.Getuid(), mounts)
}

// sweepContainers removes the containers whose owner is dead, by the lock of their run directory. Nothing depends on
// its success.
func sweepContainers(ctx context.Context, c *testcontainers.DockerClient) {
	list, err := c.ContainerList(ctx, client.ContainerListOptions{
		All: true, Filters: client.Filters{}.Add("label", labelMachine+"="+machine()),
	})
	if err != nil {
		return
	}
	for _, item := range list.Items {
		dir := item.Labels[labelRun]
		if _, err := os.Lstat(dir); dir == "" || !errors.Is(err, os.ErrNotExist) {
			continue // its owner lives: a dead one's directory was removed by sweepDirs
		}
		_, _ = c.ContainerRemove(ctx, item.ID, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
	}
}
