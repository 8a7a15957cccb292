package pin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/meshproof/meshproof/internal/folder"
)

// catalogText is the text of a catalog, split at its releases. Releases can be replaced, and the other text stays byte for
// byte.
type catalogText struct {
	catalog   catalog
	platforms []string // of all releases, in the order of the text
	head      string   // up to the first release
	releases  []releaseText
	between   string // what separates two releases
	tail      string // behind the last release
}

// releaseText is the text of one release. It begins with the version.
type releaseText struct{ version, text string }

// readCatalog reads a file. Its errors are about bad input.
func readCatalog(file string) (catalogText, error) {
	data, err := folder.Read(file)
	if err != nil {
		return catalogText{}, fmt.Errorf("envoy: read the pinned releases: %w; name a copy of internal/pin/versions.json", err)
	}
	t, err := parseCatalog(data)
	if err != nil {
		return catalogText{}, fmt.Errorf("envoy: read the pinned releases of %s: %w; name a copy of internal/pin/versions.json", file, err)
	}
	return t, nil
}

func parseCatalog(data []byte) (t catalogText, err error) {
	strict := json.NewDecoder(bytes.NewReader(data))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&t.catalog); err != nil {
		return t, err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	if err := enter(dec, "releases"); err != nil {
		return t, err
	}
	begin, end := dec.InputOffset(), dec.InputOffset()
	for dec.More() {
		version, err := key(dec)
		if err != nil {
			return t, err
		}
		if !versionPattern.MatchString(version) {
			return t, fmt.Errorf("%q is no release of Envoy", version)
		}
		from := dec.InputOffset() - int64(len(version)+len(`""`)) // a version has no escapes
		if t.releases == nil {
			t.head, t.between = string(data[:from]), ","+string(data[begin:from])
		}
		var wheels json.RawMessage
		if err := dec.Decode(&wheels); err != nil {
			return t, err
		}
		end = dec.InputOffset()
		t.releases = append(t.releases, releaseText{version, string(data[from:end])})
		if err := t.addPlatforms(wheels); err != nil {
			return t, err
		}
	}
	if t.catalog.Package == "" || t.catalog.Member == "" || len(t.platforms) == 0 {
		return t, errors.New("it lacks a package, a member, or a release with a wheel")
	}
	t.tail = string(data[end:])
	return t, nil
}

// enter moves to the first key of an object inside the outermost object.
func enter(dec *json.Decoder, name string) error {
	if _, err := dec.Token(); err != nil {
		return err
	}
	for dec.More() {
		found, err := key(dec)
		if err != nil {
			return err
		}
		if found == name {
			_, err := dec.Token()
			return err
		}
		if err := dec.Decode(new(json.RawMessage)); err != nil {
			return err
		}
	}
	return fmt.Errorf("it has no %s", name)
}

func key(dec *json.Decoder) (string, error) {
	token, err := dec.Token()
	name, _ := token.(string)
	return name, err
}

func (t *catalogText) addPlatforms(release json.RawMessage) error {
	dec := json.NewDecoder(bytes.NewReader(release))
	if _, err := dec.Token(); err != nil {
		return err
	}
	for dec.More() {
		platform, err := key(dec)
		if err == nil {
			err = dec.Decode(new(json.RawMessage))
		}
		if err != nil {
			return err
		}
		if !slices.Contains(t.platforms, platform) {
			t.platforms = append(t.platforms, platform)
		}
	}
	return nil
}

// with returns the text with each proposal before the first older release, and without the replaced releases.
func (t catalogText) with(proposals []Proposal) string {
	releases := slices.Clone(t.releases)
	for _, p := range proposals {
		releases = slices.DeleteFunc(releases, func(r releaseText) bool {
			return r.version == p.Version || slices.Contains(p.Replaces, r.version)
		})
		at := slices.IndexFunc(releases, func(r releaseText) bool { return semver.Compare("v"+r.version, "v"+p.Version) < 0 })
		if at < 0 {
			at = len(releases)
		}
		releases = slices.Insert(releases, at, releaseText{p.Version, p.entry(strings.TrimLeft(t.between, ",\r\n"))})
	}
	texts := make([]string, len(releases))
	for i, r := range releases {
		texts[i] = r.text
	}
	return t.head + strings.Join(texts, t.between) + t.tail
}

// Adopt writes the proposals into the catalog in file, newest first, and removes the releases that they replace. The text of
// the other releases stays byte for byte. Without proposals it does not write the file. A reader sees the old file or the new
// one, never a half.
func Adopt(file string, proposals []Proposal) error {
	if len(proposals) == 0 {
		return nil
	}
	t, err := readCatalog(file)
	if err != nil {
		return err
	}
	if err := replaceFile(file, t.with(proposals)); err != nil {
		return fmt.Errorf("envoy: write the pinned releases to %s: %w; make the file and its folder writable", file, err)
	}
	return nil
}

// replaceFile replaces the content of a file and keeps its mode. It follows links.
func replaceFile(file, content string) (err error) {
	if file, err = filepath.EvalSymlinks(file); err != nil {
		return err
	}
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	fresh, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+"-")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(fresh.Name())
		}
	}()
	_, err = fresh.WriteString(content)
	if err = errors.Join(err, fresh.Chmod(info.Mode().Perm()), fresh.Close()); err != nil {
		return err
	}
	return os.Rename(fresh.Name(), file)
}
