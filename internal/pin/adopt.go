package pin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/meshproof/meshproof/internal/folder"
)

// readCatalog reads a file. Its errors are about bad input.
func readCatalog(file string) (catalog, error) {
	data, err := folder.Read(file)
	if err != nil {
		return catalog{}, fmt.Errorf("envoy: read the pinned releases: %w; name a copy of internal/pin/versions.json", err)
	}
	c, err := parseCatalog(data)
	if err != nil {
		return catalog{}, fmt.Errorf("envoy: read the pinned releases of %s: %w; name a copy of internal/pin/versions.json", file, err)
	}
	return c, nil
}

func parseCatalog(data []byte) (c catalog, err error) {
	strict := json.NewDecoder(bytes.NewReader(data))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&c); err != nil {
		return c, err
	}
	for version := range c.Releases {
		if !versionPattern.MatchString(version) {
			return c, fmt.Errorf("%q is no release of Envoy", version)
		}
	}
	if c.Package == "" || c.Member == "" || len(c.platforms()) == 0 {
		return c, errors.New("it lacks a package, a member, or a release with a wheel")
	}
	return c, nil
}

// platforms returns the platforms of all releases, sorted.
func (c catalog) platforms() []string {
	all := map[string]bool{}
	for _, wheels := range c.Releases {
		for platform := range wheels {
			all[platform] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// Adopt writes the proposals into the catalog in file, and removes the releases that they replace. Without proposals it does
// not write the file. The commit of a new release is not known before its binary runs: a test asks for it. A reader sees the old file or the new one, never a half.
func Adopt(file string, proposals []Proposal) error {
	if len(proposals) == 0 {
		return nil
	}
	c, err := readCatalog(file)
	if err != nil {
		return err
	}
	for _, p := range proposals {
		for _, version := range p.Replaces {
			delete(c.Releases, version)
			delete(c.Commits, version)
		}
		c.Releases[p.Version] = p.release()
	}
	text, err := json.MarshalIndent(c, "", "  ")
	if err == nil {
		err = replaceFile(file, append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("envoy: write the pinned releases to %s: %w; make the file and its folder writable", file, err)
	}
	return nil
}

// replaceFile replaces the content of a file and keeps its mode. It follows links.
func replaceFile(file string, content []byte) (err error) {
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
	_, err = fresh.Write(content)
	if err = errors.Join(err, fresh.Chmod(info.Mode().Perm()), fresh.Close()); err != nil {
		return err
	}
	return os.Rename(fresh.Name(), file)
}
