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

// runDir is the private directory of one Envoy. This process holds its lock as long as the directory is in use. The lock tells
// the sweep which directories are in use.
type runDir struct {
	path string
	lock *os.File
}

// runDirParent is the temporary directory, unless its name is so long that no UNIX socket fits below it.
func runDirParent() string {
	dir, err := filepath.Abs(os.TempDir())
	if err != nil || len(dir)+len("/")+len(runDirPrefix)+len("aaaaaaaaaaaaa/")+len(socketName) > maxSocketPath {
		return "/tmp"
	}
	return dir
}

// runDirPath names a directory that does not exist yet. The bootstrap has the path of the admin socket, so the name must be
// known before the directory is made.
func runDirPath() string {
	return filepath.Join(runDirParent(), runDirPrefix+strings.ToLower(rand.Text()[:13]))
}

// newRunDir makes the directory and locks it. It fails with os.ErrExist if the directory is in use.
func newRunDir(path string) (*runDir, error) {
	// Before it is locked, another process may take the directory for unused and remove it: then try again.
	for range 10 {
		if err := os.Mkdir(path, 0o700); errors.Is(err, os.ErrExist) {
			return nil, err
		} else if err != nil {
			return nil, fmt.Errorf("%w: set TMPDIR to a folder in which you may write", err)
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

// remove deletes the directory, then lets go of the lock.
func (d *runDir) remove() error {
	return errors.Join(os.RemoveAll(d.path), d.lock.Close())
}

var errLocked = errors.New("locked by another process")

// lockDir locks a run directory. Only the owner may create the lock file: a sweep could otherwise put a file into a directory
// that its owner is removing. It fails with os.ErrNotExist if the directory or its lock file does not exist and, with
// unix.LOCK_NB, with errLocked if the owner is alive.
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
	// The holder before may have removed the file that is locked now.
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

// sweepDirs removes the run directories whose owner is dead, and kills the processes that still work in them. Such directories
// exist if the watchdog was killed together with the owner. Nothing depends on the success of the sweep.
func sweepDirs() {
	dirs, _ := filepath.Glob(filepath.Join(runDirParent(), runDirPrefix+"*"))
	for _, dir := range dirs {
		if !ownDir(dir) {
			continue
		}
		lock, err := lockDir(dir, 0, unix.LOCK_EX|unix.LOCK_NB)
		if errors.Is(err, os.ErrNotExist) {
			// The owner has not locked it yet, and then tries again; or it died before; or it has removed all
			// files of the directory.
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

// ownDir reports whether path is a directory, not a link to one, of this user.
func ownDir(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid()
}

// killIn kills the processes whose command line names the bootstrap in dir. It needs /proc of Linux, and finds nothing on other
// systems.
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

// machine names the file system of the run directories. The sweep leaves the containers of other machines, and of containers
// that use the same daemon.
func machine() string {
	host, _ := os.Hostname()
	mounts := ""
	if runtime.GOOS == "linux" {
		mounts, _ = os.Readlink("/proc/self/ns/mnt")
	}
	return fmt.Sprintf("%s %d %s", host, os.Getuid(), mounts)
}

// sweepContainers removes the containers whose run directory is gone, because their owner is dead. Nothing depends on its
// success.
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
