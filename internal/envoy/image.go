package envoy

import (
	"archive/tar"
	"bytes"
	"context"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"

	"github.com/meshproof/meshproof/internal/pin"
)

const (
	officialImage = "envoyproxy/envoy"
	builtImage    = "meshproof/envoy"
	pullTimeout   = 3 * time.Minute
	binaryInImage = "/usr/local/bin/envoy" // of the official image and the built images
)

// ensureImage chooses the image, and makes sure that it is present: ENVOY_IMAGE; else an image built from ENVOY_BIN; else that
// of the release; else an image built from the pinned binary of the release.
func ensureImage(ctx context.Context, c *testcontainers.DockerClient, o Options, image, bin string) (ref, version string, err error) {
	switch {
	case image != "":
		return ownImage(ctx, c, o.Version, image)
	case bin != "":
		bin, version, err = ownBinary(ctx, o.Version, bin)
	default:
		version, err = pin.NormalVersion(o.Version)
	}
	if err != nil {
		return "", "", err
	}
	var errPull error
	fail := func(err error) (string, string, error) {
		return "", "", &pin.Error{
			Doing: "get an image of Envoy " + version, Reason: ErrNoImage, Cause: errors.Join(errPull, err),
			Hint: "set ENVOY_IMAGE to an image or use the process runtime",
		}
	}
	if bin == "" {
		if ref, errPull = releaseImage(ctx, c, version); errPull == nil {
			return ref, version, nil
		}
		switch {
		case ctx.Err() != nil:
			return fail(ctx.Err())
		case runtime.GOOS != "linux":
			return fail(errors.New("it can be built on Linux only"))
		}
		store, err := pin.OpenStore(nil)
		if err != nil {
			return fail(err)
		}
		if bin, err = store.Fetch(ctx, version); err != nil {
			return fail(err)
		}
	}
	digest, err := fileDigest(bin)
	if err != nil {
		return fail(err)
	}
	ref = builtRef(version, digest)
	if present(ctx, c, ref) {
		return ref, version, nil
	}
	if err := buildImage(ctx, c, bin, ref); err != nil {
		return fail(err)
	}
	return ref, version, nil
}

// releaseImage returns the image of a release: the official one if it is present; else the image that was built from the pinned
// binary if that is present; else the official one if it can be pulled.
func releaseImage(ctx context.Context, c *testcontainers.DockerClient, version string) (string, error) {
	official := officialImage + ":v" + version
	if present(ctx, c, official) {
		return official, nil
	}
	if digest, ok := pin.BinaryDigest(version, "linux-"+runtime.GOARCH); ok {
		if built := builtRef(version, digest); present(ctx, c, built) {
			return built, nil
		}
	}
	return official, pull(ctx, c, official)
}

// builtRef names the image of a binary by its version and its digest.
func builtRef(version, digest string) string { return builtImage + ":" + version + "-" + digest[:12] }

// ownImage pulls ENVOY_IMAGE if it is not present. The version is known when it runs, see [Envoy.Version]: a tag may be the
// version of a mesh, or be wrong.
func ownImage(ctx context.Context, c *testcontainers.DockerClient, asked, image string) (ref, version string, err error) {
	if asked != "" {
		if version, err = pin.NormalVersion(asked); err != nil {
			return "", "", err
		}
	}
	if !present(ctx, c, image) {
		if err := pull(ctx, c, image); err != nil {
			return "", "", &pin.Error{Doing: "use ENVOY_IMAGE=" + image, Reason: ErrNoImage, Cause: err, Hint: "pull or build the image"}
		}
	}
	return image, version, nil
}

func present(ctx context.Context, c *testcontainers.DockerClient, ref string) bool {
	_, err := c.ImageInspect(ctx, ref)
	return err == nil
}

func pull(ctx context.Context, c *testcontainers.DockerClient, ref string) error {
	ctx, cancel := context.WithTimeout(ctx, pullTimeout)
	defer cancel()
	resp, err := c.ImagePull(ctx, ref, client.ImagePullOptions{})
	if err == nil {
		err = resp.Wait(ctx)
	}
	if err != nil {
		return fmt.Errorf("pull %s: %w", ref, err)
	}
	return nil
}

// buildImage imports a file system of the binary and its libraries as an image of one layer. Two processes that do so at once
// build the same image.
func buildImage(ctx context.Context, c *testcontainers.DockerClient, bin, ref string) error {
	libs, err := libraries(bin)
	if err != nil {
		return err
	}
	files := map[string]string{binaryInImage: bin}
	for name, path := range libs {
		files[name] = path
	}
	r, w := io.Pipe()
	go func() { w.CloseWithError(writeTar(w, files)) }()
	defer r.Close()
	resp, err := c.ImageImport(ctx, client.ImageImportSource{Source: r, SourceName: "-"}, ref, client.ImageImportOptions{
		Message: "Envoy and the libraries it needs, by meshproof",
		Changes: []string{`ENTRYPOINT ["` + binaryInImage + `"]`},
	})
	if err != nil {
		return fmt.Errorf("build %s: %w", ref, err)
	}
	defer resp.Close()
	answer, err := io.ReadAll(resp)
	if err == nil {
		err = importError(answer)
	}
	if err != nil {
		return fmt.Errorf("build %s: %w", ref, err)
	}
	return nil
}

// importError finds the error in the daemon's answer, a stream of JSON messages behind status 200.
func importError(answer []byte) error {
	for dec := json.NewDecoder(bytes.NewReader(answer)); ; {
		var message struct{ Error string }
		switch err := dec.Decode(&message); {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case message.Error != "":
			return errors.New(message.Error)
		}
	}
}

func fileDigest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return pin.Digest(f)
}

// libraryDirs are the directories where the dynamic loader of a Linux distribution looks.
func libraryDirs(machine elf.Machine) []string {
	triplet := map[elf.Machine]string{elf.EM_X86_64: "x86_64-linux-gnu", elf.EM_AARCH64: "aarch64-linux-gnu"}[machine]
	return []string{"/lib/" + triplet, "/usr/lib/" + triplet, "/lib64", "/usr/lib64", "/lib", "/usr/lib"}
}

// libraries returns the dynamic loader and all shared libraries that a binary needs, directly or not: the paths at which it will
// look for them, and the files of this machine.
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

// writeTar writes files as executables of root without a date, so that the same files give the same archive. The keys are the
// names in the archive.
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
