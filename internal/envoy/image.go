package envoy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"

	"github.com/meshproof/meshproof/internal/pin"
)

const (
	officialImage = "envoyproxy/envoy"
	builtImage    = "meshproof/envoy"
	pullTimeout   = 3 * time.Minute
	binaryInImage = "/usr/local/bin/envoy" // of the official image, and of those that are built here
)

// ensureImage settles which image is run, and that it is present: ENVOY_IMAGE; else one built from ENVOY_BIN; else that
// of the release; else one built on the spot from the release's pinned binary.
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

// releaseImage returns the image of a release: the official one if it is present; else one built from the pinned binary
// if that is present; else the official one if it can be pulled.
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

// ownImage pulls ENVOY_IMAGE if it has to. What version it is shows when it runs: a tag may be of the mesh that the image
// belongs to, or lie. See [Envoy.Version].
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

// buildImage imports a file system of the binary and the libraries it needs as an image of one layer. Two processes that
// do so at once build the same image.
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
