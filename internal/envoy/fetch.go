package envoy

import (
	"archive/tar"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"

	"github.com/meshproof/meshproof/internal/pin"
)

// Fetch returns the path of the binary of a pinned release for this platform; see [pin.Store.Fetch]. If pip is missing or
// fails on Linux, Fetch copies the binary out of the image of the container runtime. The error is of type *[pin.Error].
func Fetch(ctx context.Context, version string) (string, error) {
	store, err := openStore()
	if err != nil {
		return "", err
	}
	return store.Fetch(ctx, version)
}

// List returns the pinned releases for this platform, newest first, with the paths of Fetch. It fails if the user has no
// cache directory; the error is of type *[pin.Error].
func List() ([]pin.Release, error) {
	store, err := openStore()
	if err != nil {
		return nil, err
	}
	return store.List(), nil
}

func openStore() (*pin.Store, error) {
	if runtime.GOOS != "linux" { // the binary of an image runs on Linux only
		return pin.OpenStore(nil)
	}
	return pin.OpenStore(copyRelease)
}

// copyRelease copies the binary of a release out of its image, and returns the SHA-256 of the binary. It runs the binary to see
// that it is that release. The container runtime would run the same image, so it is trusted as much.
func copyRelease(ctx context.Context, version, target string) (digest string, err error) {
	c, err := dialDocker(ctx)
	if err != nil {
		if e := (*pin.Error)(nil); errors.As(err, &e) {
			err = fmt.Errorf("%w: %w", e.Reason, e.Cause)
		}
		return "", err
	}
	defer c.Close()
	sweepContainers(ctx, c)
	image, err := releaseImage(ctx, c, version)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNoImage, err)
	}
	if digest, err = copyBinary(ctx, c, image, target); err != nil {
		return "", fmt.Errorf("copy %s out of %s: %w", binaryInImage, image, err)
	}
	got, err := binaryVersion(ctx, target)
	if err != nil {
		return "", fmt.Errorf("run the binary of %s here: %w", image, err)
	}
	if got != version {
		return "", fmt.Errorf("the binary of %s is Envoy %s", image, got)
	}
	return digest, nil
}

// copyBinary copies the binary out of an image, from a container that is never started. As long as the directory of the target
// exists, sweepContainers leaves the container. A watchdog removes both if this process dies.
func copyBinary(ctx context.Context, c *testcontainers.DockerClient, image, target string) (digest string, err error) {
	dir := filepath.Dir(target)
	name := runDirPrefix + "copy-" + strings.ToLower(rand.Text()[:13])
	dog, err := watchContainer(name, c.DaemonHost(), dir)
	if err != nil {
		return "", err
	}
	// An interrupted creation may succeed after its removal has failed, so it is not interrupted.
	whole, cancel := context.WithTimeout(context.WithoutCancel(ctx), removalTimeout)
	defer cancel()
	_, err = c.ContainerCreate(whole, client.ContainerCreateOptions{
		Name: name,
		Config: &container.Config{
			Image: image, Entrypoint: []string{binaryInImage},
			Labels: map[string]string{labelRun: dir, labelMachine: machine()},
		},
		HostConfig: &container.HostConfig{NetworkMode: "none"},
	})
	if err == nil {
		err = readBinary(ctx, c, name, func(binary io.Reader) (err error) {
			digest, err = pin.WriteBinary(target, binary)
			return err
		})
	}
	removal, cancel := context.WithTimeout(context.WithoutCancel(ctx), removalTimeout)
	defer cancel()
	_, errRemove := c.ContainerRemove(removal, name, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
	if errRemove != nil && !errdefs.IsNotFound(errRemove) {
		return "", errors.Join(err, fmt.Errorf("remove container %s: %w", name, errRemove)) // the watchdog tries again when this process ends
	}
	dog.dismiss()
	return digest, err
}

// readBinary reads the binary in a container from the archive that the daemon makes of it.
func readBinary(ctx context.Context, c *testcontainers.DockerClient, name string, read func(io.Reader) error) error {
	copied, err := c.CopyFromContainer(ctx, name, client.CopyFromContainerOptions{SourcePath: binaryInImage})
	if err != nil {
		return err
	}
	defer copied.Content.Close()
	archive := tar.NewReader(copied.Content)
	header, err := archive.Next()
	if err != nil {
		return err
	}
	if header.Typeflag != tar.TypeReg {
		return fmt.Errorf("it is no regular file, but %s", header.FileInfo().Mode())
	}
	return read(archive)
}
