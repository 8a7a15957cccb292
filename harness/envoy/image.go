package envoy

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"time"

	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
)

const (
	officialImage = "envoyproxy/envoy"
	builtImage    = "meshproof/envoy"
	pullTimeout   = 3 * time.Minute
	binaryInImage = "/usr/local/bin/envoy" // in the official image, too
)

var imageVersion = regexp.MustCompile(`:[a-z-]*v?(\d+\.\d+\.\d+)`)

// ensureImage settles which image is run, and that it is present: ENVOY_IMAGE; else, unless there is an ENVOY_BIN, the
// official image if it is present; else one built from the binary if it is present; else the official image if it can
// be pulled; else one built on the spot.
func ensureImage(ctx context.Context, c *testcontainers.DockerClient, o Options, image, bin string) (ref, version string, err error) {
	if image != "" {
		return ownImage(ctx, c, o.Version, image)
	}
	version, err = normalVersion(o.Version)
	if err != nil {
		return "", "", err
	}
	official := officialImage + ":v" + version
	var digest string
	var errPull error
	if bin != "" {
		if bin, version, err = ownBinary(ctx, o.Version, bin); err == nil {
			digest, err = fileDigest(bin)
		}
		if err != nil {
			return "", "", err
		}
	} else if present(ctx, c, official) {
		return official, version, nil
	} else if w, err := pinned.find(version, "linux-"+runtime.GOARCH); err == nil {
		digest = w.SHA256
	}
	built := ""
	if digest != "" {
		built = builtImage + ":" + version + "-" + digest[:12]
		if present(ctx, c, built) {
			return built, version, nil
		}
	}
	if bin == "" {
		if errPull = pull(ctx, c, official); errPull == nil {
			return official, version, nil
		}
	}
	fail := func(err error) (string, string, error) {
		return "", "", &Error{
			Doing: "get an image of Envoy " + version, Reason: ErrNoImage, Cause: errors.Join(errPull, err),
			Hint: "set ENVOY_IMAGE to an image or use the process runtime",
		}
	}
	switch {
	case ctx.Err() != nil:
		return fail(ctx.Err())
	case runtime.GOOS != "linux":
		return fail(errors.New("it can be built on Linux only"))
	case bin == "":
		if bin, err = Fetch(ctx, version); err != nil {
			return fail(err)
		}
	}
	if err := buildImage(ctx, c, bin, built); err != nil {
		return fail(err)
	}
	return built, version, nil
}

// ownImage pulls ENVOY_IMAGE if it has to, and refuses it if its tag tells another version than the one asked for.
func ownImage(ctx context.Context, c *testcontainers.DockerClient, asked, image string) (ref, version string, err error) {
	doing := "use ENVOY_IMAGE=" + image
	if m := imageVersion.FindStringSubmatch(image); m != nil {
		version = m[1]
	}
	if asked != "" {
		want, err := normalVersion(asked)
		if err != nil {
			return "", "", err
		}
		if version != "" && version != want {
			return "", "", &Error{
				Doing: doing, Reason: ErrUnknownVersion, Cause: fmt.Errorf("it is Envoy %s, but %s is asked for", version, want),
				Hint: "unset ENVOY_IMAGE or ask for its version",
			}
		}
		version = want
	}
	if !present(ctx, c, image) {
		if err := pull(ctx, c, image); err != nil {
			return "", "", &Error{Doing: doing, Reason: ErrNoImage, Cause: err, Hint: "pull or build the image"}
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
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
