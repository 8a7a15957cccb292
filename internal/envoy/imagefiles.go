package envoy

import (
	"archive/tar"
	"debug/elf"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// libraryDirs is where the dynamic loader of a Linux distribution looks.
func libraryDirs(machine elf.Machine) []string {
	triplet := map[elf.Machine]string{elf.EM_X86_64: "x86_64-linux-gnu", elf.EM_AARCH64: "aarch64-linux-gnu"}[machine]
	return []string{"/lib/" + triplet, "/usr/lib/" + triplet, "/lib64", "/usr/lib64", "/lib", "/usr/lib"}
}

// libraries returns the dynamic loader and the shared libraries that a binary needs, directly or not: the names that
// it will look for, with the files of this machine behind them.
func libraries(bin string) (map[string]string, error) {
	found := map[string]string{}
	loader, needed, machine, err := dependencies(bin)
	if err != nil {
		return nil, err
	}
	if loader == "" {
		return found, nil // static
	}
	if found[loader], err = filepath.EvalSymlinks(loader); err != nil {
		return nil, fmt.Errorf("find the loader of %s: %w", bin, err)
	}
	dirs := libraryDirs(machine)
	for len(needed) > 0 {
		name := needed[0]
		needed = needed[1:]
		if name == filepath.Base(loader) || slices.ContainsFunc(slices.Collect(maps.Keys(found)), func(p string) bool { return filepath.Base(p) == name }) {
			continue
		}
		path, real := "", ""
		for _, dir := range dirs {
			if real, err = filepath.EvalSymlinks(filepath.Join(dir, name)); err == nil {
				path = filepath.Join(dir, name)
				break
			}
		}
		if path == "" {
			return nil, fmt.Errorf("find %s, which %s needs: not in %s", name, bin, strings.Join(dirs, ", "))
		}
		found[path] = real
		_, more, _, err := dependencies(real)
		if err != nil {
			return nil, err
		}
		needed = append(needed, more...)
	}
	return found, nil
}

// dependencies reads loader and needed libraries from an ELF file.
func dependencies(path string) (loader string, needed []string, machine elf.Machine, err error) {
	f, err := elf.Open(path)
	if err != nil {
		return "", nil, 0, fmt.Errorf("read the libraries of %s: %w", path, err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			name, err := io.ReadAll(p.Open())
			if err != nil {
				return "", nil, 0, fmt.Errorf("read the loader of %s: %w", path, err)
			}
			loader = strings.TrimRight(string(name), "\x00")
		}
	}
	needed, err = f.ImportedLibraries()
	if err != nil {
		return "", nil, 0, fmt.Errorf("read the libraries of %s: %w", path, err)
	}
	return loader, needed, f.Machine, nil
}

// writeTar writes files, by their name in the archive, as executables of root without a date, so that the same files
// give the same archive.
func writeTar(w io.Writer, files map[string]string) error {
	t := tar.NewWriter(w)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := writeTarFile(t, strings.TrimPrefix(name, "/"), files[name]); err != nil {
			return fmt.Errorf("archive %s: %w", files[name], err)
		}
	}
	return t.Close()
}

func writeTarFile(t *tar.Writer, name, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := t.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: info.Size()}); err != nil {
		return err
	}
	_, err = io.Copy(t, f)
	return err
}
